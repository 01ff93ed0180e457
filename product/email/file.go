package email

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"

	"postrider/mail/blocked"
	"postrider/platform/api"
)

// File is an attachment on its way in.
type File struct {
	Filename, ContentType, ContentID string
	Inline                           bool
	Content                          []byte
	// source is where the content is to be fetched from, if it did not come with the request.
	source string
}

// Limits of attachments, measured on the decoded bytes.
const (
	maxFiles       = 20
	maxFileBytes   = 10 << 20
	maxFilesBytes  = 25 << 20
	maxFilename    = 255
	contentIDLimit = 255
)

// fileBody is an attachment as it is sent. Both spellings of the names are in use.
type fileBody struct {
	Filename         string      `json:"filename" example:"invoice.pdf"`
	Content          fileContent `json:"content" example:"JVBERi0xLjQK"`
	ContentType      string      `json:"content_type" example:"application/pdf"`
	ContentTypeCamel string      `json:"contentType"`
	ContentID        string      `json:"content_id"`
	ContentIDCamel   string      `json:"contentId"`
	InlineContentID  string      `json:"inline_content_id"`
	Disposition      string      `json:"disposition" example:"attachment"`
	Path             string      `json:"path" doc:"Where to fetch the file, instead of content; https only, at most 10 MB." example:"https://acme.test/invoice.pdf" instead:"content"`
	URL              string      `json:"url" doc:"The same as path."`
}

// fileContent is bytes in any of the three encodings that SDKs send: base64, a list of numbers, or a serialised Buffer.
type fileContent []byte

// JSONSchema describes the three encodings.
func (fileContent) JSONSchema() map[string]any {
	numbers := map[string]any{"type": "array", "items": map[string]any{"type": "integer", "minimum": 0, "maximum": 255}}
	return map[string]any{"oneOf": []any{
		map[string]any{"type": "string", "contentEncoding": "base64"}, numbers,
		map[string]any{"type": "object", "properties": map[string]any{"type": map[string]any{"const": "Buffer"}, "data": numbers}},
	}}
}

// UnmarshalJSON reads any of the three encodings.
func (c *fileContent) UnmarshalJSON(raw []byte) error {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) > 0 && raw[0] == '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		decoded, err := base64.StdEncoding.DecodeString(strings.NewReplacer("\r", "", "\n", "").Replace(text))
		if err != nil {
			return errors.New("must be base64")
		}
		*c = decoded
		return nil
	case len(raw) > 0 && raw[0] == '{':
		var buffer struct {
			Type string     `json:"type"`
			Data numberList `json:"data"`
		}
		if err := json.Unmarshal(raw, &buffer); err != nil || buffer.Type != "Buffer" {
			return errors.New("must be base64, a list of bytes or a Buffer")
		}
		*c = fileContent(buffer.Data)
		return nil
	}
	var numbers numberList
	if err := json.Unmarshal(raw, &numbers); err != nil {
		return errors.New("must be base64, a list of bytes or a Buffer")
	}
	*c = fileContent(numbers)
	return nil
}

// numberList is a JSON list of the numbers 0 to 255, read without a value for each of them: lists may have millions.
type numberList []byte

// UnmarshalJSON reads the list; its syntax has been checked already.
func (l *numberList) UnmarshalJSON(raw []byte) error {
	if bytes.Equal(raw, []byte("null")) {
		return nil
	}
	if len(raw) < 2 || raw[0] != '[' {
		return errors.New("not a list")
	}
	list := make([]byte, 0, len(raw)/3)
	number, digits := 0, 0
	for _, b := range raw[1:] {
		switch {
		case b >= '0' && b <= '9':
			number, digits = number*10+int(b-'0'), digits+1
			if number > 255 || digits > 3 {
				return errors.New("not a byte")
			}
		case b == ',' || b == ']':
			if digits > 0 {
				list = append(list, byte(number))
			}
			number, digits = 0, 0
		case b != ' ' && b != '\n' && b != '\r' && b != '\t':
			return errors.New("not a byte")
		}
	}
	*l = list
	return nil
}

func checkFiles(wrong *api.Fields, bodies []fileBody) []File {
	if len(bodies) > maxFiles {
		wrong.Add("attachments", fmt.Sprintf("At most %d attachments are allowed.", maxFiles))
		return nil
	}
	total := 0
	var files []File
	for i, body := range bodies {
		at := func(field string) string { return fmt.Sprintf("attachments[%d].%s", i, field) }
		file := body.file()
		total += len(file.Content)
		switch {
		case len(body.Content) == 0 && file.source == "":
			wrong.Add(at("content"), "Content is required, or a path to fetch it from.")
		case len(body.Content) > 0 && file.source != "":
			wrong.Add(at("path"), "Give content or path, not both.")
		}
		if len(file.Content) > maxFileBytes {
			wrong.Add(at("content"), "A file must have at most 10 MB.")
		}
		if problem := nameProblem(file.Filename); problem != "" && (file.source == "" || file.Filename != "") {
			wrong.Add(at("filename"), problem)
		}
		if problem := blocked.File(file.Filename, file.Content); problem != "" {
			wrong.Add(at("filename"), problem)
		}
		if len(file.ContentID) > contentIDLimit || !isPrintable(file.ContentID) || strings.ContainsAny(file.ContentID, `<>()"\ `) {
			wrong.Add(at("content_id"), "Must be at most 255 printable ASCII characters without spaces, quotes, backslashes and brackets.")
		}
		if !isMediaType(file.ContentType) {
			wrong.Add(at("content_type"), "Must be a media type such as application/pdf.")
		}
		if !slices.Contains([]string{"", "attachment", "inline"}, body.Disposition) {
			wrong.Add(at("disposition"), "Must be attachment or inline.")
		}
		files = append(files, file)
	}
	if total > maxFilesBytes {
		wrong.Add("attachments", tooManyBytes)
	}
	return files
}

const tooManyBytes = "All files together must have at most 25 MB."

func (b fileBody) file() File {
	file := File{
		Filename:    baseName(b.Filename),
		ContentType: first(b.ContentType, b.ContentTypeCamel),
		ContentID:   strings.Trim(first(b.ContentID, b.ContentIDCamel, b.InlineContentID), "<>"),
		Content:     b.Content,
		source:      first(b.Path, b.URL),
	}
	file.Inline = file.ContentID != "" || b.Disposition == "inline"
	if file.ContentType == "" && file.source == "" {
		file.ContentType = typeOf(file)
	}
	return file
}

// baseName drops the directories that some programs leave in front of a name.
func baseName(name string) string {
	if name = strings.TrimSpace(name); name == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(name, `\`, "/"))
}

// typeOf guesses the type of a file by its name, else by how it begins.
func typeOf(file File) string {
	if kind := mime.TypeByExtension(path.Ext(file.Filename)); kind != "" {
		return kind
	}
	return http.DetectContentType(file.Content)
}

// isMediaType tells whether a type can be written into a message. Parameters that cannot be understood are left out of it.
func isMediaType(text string) bool {
	kind, _, err := mime.ParseMediaType(text)
	return text == "" || (err == nil || errors.Is(err, mime.ErrInvalidMediaParameter)) && strings.Contains(kind, "/")
}

func nameProblem(name string) string {
	switch {
	case name == "" || name == "." || name == ".." || name == "/":
		return "A file name is required."
	case len(name) > maxFilename:
		return "Must have at most 255 bytes."
	case blocked.IsDisguised(name):
		return "Must not contain control characters."
	}
	return ""
}

func isPrintable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}
