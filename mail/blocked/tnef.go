package blocked

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
)

// tnefMark begins a file, most often called winmail.dat, in which Outlook and Exchange put everything that is attached to a message. Outlook
// and other programs show what is in it in its place.
const tnefMark = "\x78\x9f\x3e\x22"

// tnefField is a field that tells of a file: an attribute, or a property in one, wherever it stands. Files lie in messages in files.
type tnefField struct {
	mark string
	// length is where its length is, before its content.
	length   int
	unicode  bool
	contents bool
}

var tnefFields = []tnefField{
	{mark: "\x10\x80\x01\x00", length: 4},                 // attAttachTitle
	{mark: "\x01\x90\x06\x00", length: 4},                 // attAttachTransportFilename
	{mark: "\x0f\x80\x06\x00", length: 4, contents: true}, // attAttachData
	{mark: "\x1e\x00\x04\x37", length: 8},                 // PR_ATTACH_FILENAME, behind the number of its values
	{mark: "\x1f\x00\x04\x37", length: 8, unicode: true},
	{mark: "\x1e\x00\x07\x37", length: 8}, // PR_ATTACH_LONG_FILENAME
	{mark: "\x1f\x00\x07\x37", length: 8, unicode: true},
	{mark: "\x1e\x00\x03\x37", length: 8}, // PR_ATTACH_EXTENSION
	{mark: "\x1f\x00\x03\x37", length: 8, unicode: true},
}

// tnefProblem says what is wrong with the files in such a file, or nothing.
func tnefProblem(content []byte) (problem string) {
	bytesRead := 0
	for _, field := range tnefFields {
		for rest := content; ; {
			at := bytes.Index(rest, []byte(field.mark))
			if at < 0 {
				break
			}
			rest = rest[at+len(field.mark):]
			value := field.value(rest)
			if field.contents {
				if isProgram(value) {
					return programProblem
				}
				continue
			}
			if bytesRead += len(value); bytesRead > maxNameBytes {
				return "The file contains files with endless names."
			}
			if problem := Name(field.name(value)); problem != "" {
				return problem
			}
		}
	}
	return ""
}

// value is what stands behind the mark of a field, as far as there is so much.
func (f tnefField) value(rest []byte) []byte {
	start := f.length - len(f.mark)
	if len(rest) < start+4 {
		return nil
	}
	length := int64(binary.LittleEndian.Uint32(rest[start:]))
	rest = rest[start+4:]
	return rest[:min(length, int64(len(rest)))]
}

func (f tnefField) name(value []byte) string {
	if !f.unicode {
		return string(value)
	}
	units := make([]uint16, len(value)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(value[2*i:])
	}
	return string(utf16.Decode(units))
}
