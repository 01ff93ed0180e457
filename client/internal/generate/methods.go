package generate

import (
	"fmt"
	"slices"
	"strings"
)

// method writes the function of an operation, with the types that are its own, and for a list the one that reads it to its end.
func (t *typer) method(op Operation) string {
	service, name := Service(op.Tags[0]), op.MethodName()
	own := exported(op.ID)
	t.group = op.Tags[0]
	arguments, path := []string{"ctx context.Context"}, fmt.Sprintf("%q", op.Path)
	var queries []Parameter
	once := false
	for _, p := range op.Parameters {
		switch {
		case p.In == "path":
			arguments = append(arguments, argument(p.Name)+" string")
			path = strings.ReplaceAll(path, "{"+p.Name+"}", `" + url.PathEscape(`+argument(p.Name)+`) + "`)
		case p.In == "query":
			queries = append(queries, p)
		case p.Name == "Idempotency-Key":
			once = true
		}
	}
	fields := []string{fmt.Sprintf("method: %q", op.Method), "path: " + strings.TrimSuffix(path, ` + ""`)}
	if len(queries) > 0 {
		t.declareParams(own+"Params", op, queries)
		arguments = append(arguments, "params "+own+"Params")
		fields = append(fields, "query: params.values()")
	}
	if op.Body != nil {
		kind := t.of(*op.Body.Media[mediaJSON].Schema, place{name: own + "Body", asked: true, from: "the body of " + op.Method + " " + op.Path})
		arguments = append(arguments, "body "+kind)
		fields = append(fields, "body: body")
	}
	if once {
		fields = append(fields, "once: true")
	}
	if op.Leads() {
		fields = append(fields, "leads: true")
	}
	arguments = append(arguments, "options ...CallOption")

	var out strings.Builder
	fmt.Fprintf(&out, "// %s calls %s %s: %s. %s\nfunc (s *%s) %s(%s) ", name, op.Method, op.Path, strings.ToLower(op.Summary[:1])+op.Summary[1:], op.Description, service, name, strings.Join(arguments, ", "))
	media, schema, _ := op.Answer()
	if media != mediaJSON {
		fmt.Fprintf(&out, "(io.ReadCloser, error) {\n\treturn s.client.open(ctx, call{%s, accept: %q}, options)\n}\n\n", strings.Join(fields, ", "), media)
		return out.String()
	}
	answer := t.of(*schema, place{name: own + "Answer", from: "the answer to " + op.Method + " " + op.Path})
	if answer == "any" {
		answer = "json.RawMessage"
	}
	fmt.Fprintf(&out, "(*%s, error) {\n\treturn do[%s](ctx, s.client, call{%s}, options)\n}\n\n", answer, answer, strings.Join(fields, ", "))
	return out.String() + t.all(op, queries, arguments, answer)
}

// all writes the method that reads a list to its end, if it has pages.
func (t *typer) all(op Operation, queries []Parameter, arguments []string, answer string) string {
	row, isPage := strings.CutPrefix(answer, "Page[")
	row = strings.TrimSuffix(row, "]")
	if !isPage {
		data := t.document.Parts.Schemas[answer].Properties["data"]
		if data.Items == nil || !strings.HasPrefix(op.ID, "list") {
			return ""
		}
		row = t.of(*data.Items, place{})
	}
	named := func(name string) bool {
		return slices.ContainsFunc(queries, func(q Parameter) bool { return q.Name == name })
	}
	if !named("offset") {
		return ""
	}
	next := "page.Offset = offset"
	if named("cursor") { // only one place can be given
		next += "\n\t\tif cursor != \"\" {\n\t\t\tpage.Cursor, page.After, page.Before, page.Offset = cursor, \"\", \"\", 0\n\t\t}"
	}
	service, name := Service(op.Tags[0]), op.MethodName()
	var names []string
	for _, a := range arguments {
		word, _, _ := strings.Cut(a, " ")
		names = append(names, strings.NewReplacer("params", "page", "options", "options...").Replace(word))
	}
	fetch := fmt.Sprintf("return s.%s(%s)", name, strings.Join(names, ", "))
	if !isPage {
		fetch = fmt.Sprintf("answer, err := s.%s(%s)\n\t\tif err != nil {\n\t\t\treturn nil, err\n\t\t}\n\t\treturn &Page[%s]{Data: answer.Data, HasMore: answer.HasMore, NextCursor: answer.NextCursor}, nil", name, strings.Join(names, ", "), row)
	}
	whole := "All" + strings.TrimPrefix(name, "List")
	return fmt.Sprintf("// %s is %s from page to page, to the end of the list.\nfunc (s *%s) %s(%s) iter.Seq2[%s, error] {\n\treturn all(params.Offset, func(offset int, cursor string) (*Page[%s], error) {\n\t\tpage := params\n\t\t%s\n\t\t%s\n\t})\n}\n\n",
		whole, name, service, whole, strings.Join(arguments, ", "), row, row, next, fetch)
}

// argument avoids the words of Go.
func argument(name string) string {
	name = unexported(name)
	if name == "type" || name == "range" {
		return name + "Name"
	}
	return name
}

// declareParams writes the struct of the query and how it becomes one.
func (t *typer) declareParams(name string, op Operation, queries []Parameter) {
	var fields, values strings.Builder
	for _, q := range queries {
		kind, setter := "string", "text"
		switch s := q.Schema; {
		case s.Format == "date-time":
			kind, setter = "time.Time", "time"
		case s.kind() == "integer":
			kind, setter = "int", "number"
		case s.kind() == "boolean":
			kind, setter = "*bool", "flag"
		case s.kind() == "array":
			kind, setter = "[]string", "texts"
		}
		if q.Description != "" {
			fmt.Fprintf(&fields, "\t// %s\n", q.Description)
		}
		fmt.Fprintf(&fields, "\t%s %s\n", exported(q.Name), kind)
		fmt.Fprintf(&values, "\tq.%s(%q, p.%s)\n", setter, q.Name, exported(q.Name))
	}
	t.groups[name] = t.group
	t.declared[name] = fmt.Sprintf("// %s are the parameters of %s %s; what is empty is not asked for.\ntype %s struct {\n%s}\n\nfunc (p %s) values() url.Values {\n\tq := query{}\n%s\treturn url.Values(q)\n}\n",
		name, op.Method, op.Path, name, fields.String(), name, values.String())
}
