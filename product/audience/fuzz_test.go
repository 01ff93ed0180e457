package audience

import (
	"io"
	"testing"
)

// A form with a file is read, and its file is as long as was said, or it is refused.
func FuzzImportsAreReadOrRefused(f *testing.F) {
	for _, seed := range []string{
		"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\nemail\r\na@b.test\r\n--x\r\nContent-Disposition: form-data; name=\"on_conflict\"\r\n\r\nskip\r\n--x--\r\n",
		"--", "--\n", "--x", `{"contacts":[{"email":"a@b.test"}]}`, `{`, "--x\r\nContent-Disposition: form-data; name=\"column_map\"\r\n\r\n{\r\n--x--\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var body importBody
		if body.ReadBody(raw) != nil || body.form == nil {
			return
		}
		file, err := body.form.open()
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		if size, err := io.Copy(io.Discard, file); err != nil || size > int64(len(raw)) {
			t.Fatalf("%q: %d bytes, %v", raw, size, err)
		}
	})
}
