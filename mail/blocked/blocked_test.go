package blocked_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"postrider/mail/blocked"
)

func TestFilesThatRunAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, content, want string
	}{
		{"report.pdf", "%PDF-1.7", ""},
		{"setup.exe", "x", "File type .exe is not allowed."},
		{"SETUP.EXE. .", "x", "File type .exe is not allowed."},
		{"report.exe::$DATA", "x", "File type .exe is not allowed."},
		{"report.e\u200bxe", "x", "File type .exe is not allowed."},
		{"report.\uff45\uff58\uff45", "x", "File type .exe is not allowed."},
		{"report.exe;.pdf", "x", "File type .exe is not allowed."},
		{"report%2Eexe", "x", "File type .exe is not allowed."},
		{"=?utf-8?q?report=2Eexe?=", "x", "File type .exe is not allowed."},
		{"report.pdf", "MZ\x90\x00", "Programs are not allowed, whatever their name."},
		{"report.pdf", "\x7fELF\x02", "Programs are not allowed, whatever their name."},
		{"photos.zip", archive(t, "a.jpg"), ""},
		{"photos.zip", archive(t, "a.jpg", "b.jpg.scr"), "The archive contains a file of type .scr, which is not allowed."},
		{"photos.jpg", archive(t, "b.scr"), "The archive contains a file of type .scr, which is not allowed."},
		{"photos.zip", "#!stub\n" + archive(t, "b.scr"), "The archive contains a file of type .scr, which is not allowed."},
		{"photos.zip", "PK\x03\x04 and no more", ""},
	} {
		if got := blocked.File(c.name, []byte(c.content)); got != c.want {
			t.Errorf("%q: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFilesThatStandInATextAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Hello": "",
		"Then type:\n\nbegin 644 x.exe\n\nand so on\n":                     "",
		"begin 644 x.txt\n#0V%T\n`\nend\n":                                 "",
		"Hello\n\nbegin 644 x.exe\n#0V%T\n`\nend\nBye\n":                   "File type .exe is not allowed.",
		"begin 644 x.txt\n$35J0``\n`\nend\n":                               "Programs are not allowed, whatever their name.",
		"begin 644 " + strings.Repeat("x", 3000) + ".exe\n#0V%T\n`\nend\n": "The name of a file in the text is too long.",
		"Hello\rbegin 644 x.exe\r#0V%T\r`\rend\r":                          "File type .exe is not allowed.",
		"begin 644 x.txt\n#0V%T\n`\nend\nbegin 644 x.vbs\n#0V%T\n`\nend\n": "File type .vbs is not allowed.",
	} {
		if got := blocked.Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestNamesThatLookLikeOthersAreFound(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"report.pdf": false, "Bericht für Ann.pdf": false, "report\u202efdp.doc": true, "a\rb": true} {
		if got := blocked.IsDisguised(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// archive is a zip file of empty files.
func archive(t *testing.T, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		if _, err := w.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
