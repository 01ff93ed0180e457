package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"postrider/platform/space"
)

// input is what a request brings, once it has been let in.
type input struct {
	path   map[string]string
	query  url.Values
	header http.Header
	body   []byte
	// cursors of the workspace, and the path of the list that they are for.
	cursors   Cursors
	workspace space.ID
	list      string
}

// Raw is the body exactly as it was sent. A request struct that has a field of this type gets it.
type Raw []byte

// binding knows where each field of a request struct comes from.
type binding struct {
	fields  []boundField
	body    []int // index of the Body field, nil if there is none
	raw     []int
	page    []int // that of the PageQuery
	request reflect.Type
}

type boundField struct {
	index  []int
	source string // path, query or header
	name   string
	least  int64 // below which a number is refused, if it is not 0: nothing at all is the default, and 0 is not nothing
}

func newBinding[Request any]() *binding {
	b := &binding{request: reflect.TypeFor[Request]()}
	if b.request.Kind() == reflect.Struct {
		b.collect(b.request, nil)
	}
	return b
}

func (b *binding) collect(t reflect.Type, prefix []int) {
	if t == reflect.TypeFor[PageQuery]() {
		b.page = append([]int{}, prefix...)
	}
	for i := range t.NumField() {
		field := t.Field(i)
		index := append(append([]int{}, prefix...), i)
		switch {
		case field.Anonymous && field.Type.Kind() == reflect.Struct:
			b.collect(field.Type, index)
			continue
		case field.Type == reflect.TypeFor[Raw]():
			b.raw = index
			continue
		case field.Name == "Body":
			b.body = index
			continue
		}
		for _, source := range []string{"path", "query", "header"} {
			if name := field.Tag.Get(source); name != "" {
				least, _ := strconv.ParseInt(field.Tag.Get("least"), 10, 64)
				b.fields = append(b.fields, boundField{index, source, name, least})
			}
		}
	}
}

func (b *binding) bind(request any, in input) error {
	target := reflect.ValueOf(request).Elem()
	var wrong Fields
	for _, field := range b.fields {
		var values []string
		switch field.source {
		case "path":
			values = []string{in.path[field.name]}
		case "query":
			values = in.query[field.name]
		case "header":
			if values = in.header.Values(field.name); len(values) > 1 { // the same as one line with commas (RFC 9110, 5.3)
				values = []string{strings.Join(values, ", ")}
			}
		}
		if len(values) == 0 {
			continue
		}
		value := target.FieldByIndex(field.index)
		problem := setField(value, values)
		if problem == "" && field.least != 0 && value.Int() < field.least {
			problem = fmt.Sprintf("Must be at least %d.", field.least)
		}
		if problem != "" {
			wrong.Add(field.name, problem)
		}
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	if b.page != nil {
		target.FieldByIndex(b.page).Addr().Interface().(*PageQuery).list = list{in.cursors, in.workspace, b.listName(in)}
	}
	if b.raw != nil {
		target.FieldByIndex(b.raw).SetBytes(in.body)
	}
	if b.body == nil {
		return nil
	}
	return Decode(in.body, target.FieldByIndex(b.body).Addr().Interface())
}

// listName is the path of a list and all that it is filtered and ordered by.
func (b *binding) listName(in input) string {
	filters := url.Values{}
	for _, field := range b.fields {
		if field.source == "query" && !slices.Contains(places, field.name) && in.query.Has(field.name) {
			filters[field.name] = in.query[field.name]
		}
	}
	return fmt.Sprint(in.list, in.path, "?", filters.Encode())
}

// readQuery refuses what cannot be read: a list without its filter would be taken for a filtered one. The addresses of public routes
// have come through mail programs, which add to them what they like.
func (x *exchange) readQuery() (url.Values, error) {
	query, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil && x.endpoint.Access != Public {
		return nil, Invalid("_query", fmt.Sprintf("Malformed query: %s.", err))
	}
	return query, nil
}

// setField writes text into a field and says what is wrong with it, if anything is.
func setField(field reflect.Value, values []string) string {
	for _, value := range values {
		if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
			return "Must be valid text."
		}
	}
	text := values[len(values)-1]
	switch field.Interface().(type) {
	case []string: // repeated and comma-separated values are alternatives
		var list []string
		for _, value := range values {
			for part := range strings.SplitSeq(value, ",") {
				if part != "" {
					list = append(list, part)
				}
			}
		}
		field.Set(reflect.ValueOf(list))
		return ""
	case *bool:
		value, err := strconv.ParseBool(text)
		if err != nil {
			return "Must be true or false."
		}
		field.Set(reflect.ValueOf(&value))
		return ""
	case time.Time:
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return "Must be an RFC 3339 time."
		}
		field.Set(reflect.ValueOf(at.UTC()))
		return ""
	}
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
	case reflect.Int, reflect.Int64:
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return "Must be a whole number."
		}
		field.SetInt(number)
	case reflect.Bool:
		value, err := strconv.ParseBool(text)
		if err != nil {
			return "Must be true or false."
		}
		field.SetBool(value)
	default:
		panic(fmt.Sprintf("api: cannot bind a %s", field.Type()))
	}
	return ""
}

// Decode reads the JSON of a body, or of one thing in it, into target. No body is an empty object: SDKs send a content type without one.
func Decode(body []byte, target any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}")
	}
	var err error
	if reader, ok := target.(BodyReader); ok {
		err = reader.ReadBody(body)
	} else {
		err = json.Unmarshal(body, target)
	}
	if err == nil {
		return nil
	}
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		return Invalid(blame(body, reflect.TypeOf(target).Elem()), fmt.Sprintf("Must be %s.", wireTypeName(wrongType.Type)))
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		switch text := syntax.Error(); { // the decoder tells these apart by nothing else
		case strings.Contains(text, "after top-level value"):
			return Invalid("_body", "Must be a single JSON value.")
		case strings.Contains(text, "unexpected end"):
			return Invalid("_body", "Malformed JSON: it ends too early.")
		}
		return Invalid("_body", fmt.Sprintf("Malformed JSON at byte %d.", syntax.Offset))
	}
	var fields *Error
	if errors.As(err, &fields) {
		return fields
	}
	return Invalid(blame(body, reflect.TypeOf(target).Elem()), sentence(err.Error()))
}

// maxBlame bounds how deep a wrong field is looked for; requests are not nested deeper.
const maxBlame = 4

// blame finds the field whose own decoder refused it: such an error does not say where it happened.
func blame(raw []byte, t reflect.Type) string {
	path := findWrong(raw, t, "", maxBlame)
	if path == "" {
		return "_body"
	}
	return path
}

// findWrong goes down to the innermost value that cannot be read into its type. The path is like attachments[0].content.
func findWrong(raw []byte, t reflect.Type, path string, depth int) string {
	if value, ok := optionalValue(t); ok {
		return findWrong(raw, value, path, depth)
	}
	if depth == 0 || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return path
	}
	switch t.Kind() {
	case reflect.Pointer:
		return findWrong(raw, t.Elem(), path, depth)
	case reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return path
		}
		for i, item := range items {
			if json.Unmarshal(item, reflect.New(t.Elem()).Interface()) != nil {
				return findWrong(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i), depth-1)
			}
		}
	case reflect.Map:
		var values map[string]json.RawMessage
		if json.Unmarshal(raw, &values) != nil {
			return path
		}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if json.Unmarshal(values[key], reflect.New(t.Elem()).Interface()) != nil {
				return findWrong(values[key], t.Elem(), strings.TrimPrefix(path+"."+key, "."), depth-1)
			}
		}
	case reflect.Struct:
		var sent map[string]json.RawMessage
		if json.Unmarshal(raw, &sent) != nil {
			return path
		}
		for _, field := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			value, ok := sent[name]
			if !ok || json.Unmarshal(value, reflect.New(field.Type).Interface()) == nil {
				continue
			}
			return findWrong(value, field.Type, strings.TrimPrefix(path+"."+name, "."), depth-1)
		}
	}
	return path
}

func sentence(text string) string {
	text = strings.TrimPrefix(text, "json: ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func wireTypeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a number"
}
