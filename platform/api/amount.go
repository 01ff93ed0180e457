package api

import (
	"bytes"
	"fmt"
	"slices"
)

// checkAmount refuses a body of too many values, before memory is taken for any of them. It looks at no more than it has to: whether the
// body is well formed is found out by who decodes it.
func checkAmount(body []byte, maxValues int) error {
	if len(body) < maxValues {
		return nil
	}
	values := 1
	var open []bool    // for each list or object that is open, whether it is an object
	var names [][]byte // the names that lead to where we are; the last is that of the open object
	var last []byte    // the last string that was read
	for i := 0; i < len(body) && values <= maxValues; i++ {
		switch body[i] {
		case '"':
			end := endOfString(body[i:])
			if end < 0 {
				return nil
			}
			last, i = body[i+1:i+end], i+end
		case ':':
			if len(names) > 0 {
				names[len(names)-1] = last
			}
		case '[':
			values++
			if size, _ := measureNumbers(body[i:]); size > 0 && isFile(names) {
				i += size - 1
				continue
			}
			open = append(open, false)
		case '{':
			values++
			open, names = append(open, true), append(names, nil)
		case ']', '}':
			if len(open) == 0 {
				return nil
			}
			if open[len(open)-1] {
				names = names[:len(names)-1]
			}
			open = open[:len(open)-1]
		case ',':
			values++
		}
	}
	if values > maxValues {
		return Invalid("_body", fmt.Sprintf("Must have at most %d values.", maxValues))
	}
	return nil
}

// filePaths lead to the bytes of a file, which some programs write as a list of numbers: it is read without a value for each.
var filePaths = []string{
	"attachments.content", "attachments.content.data",
	"emails.attachments.content", "emails.attachments.content.data",
}

// isFile tells whether names lead to the bytes of a file.
func isFile(names [][]byte) bool {
	if len(names) > 4 {
		return false
	}
	return slices.Contains(filePaths, string(bytes.Join(names, []byte("."))))
}

// measureNumbers returns how long the list of numbers is that raw begins with, and how many commas it has; 0 if it has anything else in it.
func measureNumbers(raw []byte) (size, commas int) {
	for i := 1; i < len(raw); i++ {
		switch b := raw[i]; {
		case b == ']':
			return i + 1, commas
		case b == ',':
			commas++
		case b >= '0' && b <= '9', isSpace(b):
		default:
			return 0, 0
		}
	}
	return 0, 0
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\r' || b == '\t' }
