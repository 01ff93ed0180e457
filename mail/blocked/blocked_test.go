package blocked_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
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
		{"report.exe/", "x", "File type .exe is not allowed."},
		{"report.exe\x00.pdf", "x", "File type .exe is not allowed."},
		{"100% report%2Eexe", "x", "File type .exe is not allowed."},
		{"report.xll", "x", "File type .xll is not allowed."},
		{"100%.pdf", "x", ""},
		{"report.e\u200bxe", "x", "File type .exe is not allowed."},
		{"report.\uff45\uff58\uff45", "x", "File type .exe is not allowed."},
		{"report\u2024exe", "x", "File type .exe is not allowed."},
		{"report\u2026exe" + strings.Repeat("\u00a0", 1000), "x", "File type .exe is not allowed."},
		{"report.\U0001d41e\u24e7\u1d49", "x", "File type .exe is not allowed."},
		{"report.exe\u037e.pdf", "x", "File type .exe is not allowed."},
		{"report.exe/x", "x", ""},
		{"exe", "x", ""},
		{".exe", "x", "File type .exe is not allowed."},
		{strings.Repeat(".", 1000), "x", ""},
		{"report.settingcontent-ms", "x", "File type .settingcontent-ms is not allowed."},
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
		{"photos.zip", "PK\x03\x04", ""},
	} {
		if got := blocked.File(c.name, []byte(c.content)); got != c.want {
			t.Errorf("%q: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestArchivesAreReadAsAnyProgramMayReadThem(t *testing.T) {
	t.Parallel()
	const found = "The archive contains a file of type .scr, which is not allowed."
	hidden, harmless := archive(t, "b.scr"), archive(t, "a.jpg")
	inList := strings.LastIndex(hidden, "b.scr")
	deep := hidden
	for range 4 {
		deep = packed(t, "inner.zip", deep)
	}
	for name, c := range map[string]struct{ content, want string }{
		"another name in the list":     {hidden[:inList] + "b.jpg" + hidden[inList+len("b.jpg"):], found},
		"another name before the file": {strings.Replace(hidden, "b.scr", "b.jpg", 1), found},
		"another name in Unicode":      {withExtra(t, "b.jpg", "up\x0a\x00\x01\x00\x00\x00\x00b.scr"), found},
		"something else beside":        {withExtra(t, "b.jpg", "uq\x0a\x00\x01\x00\x00\x00\x00b.scr"), ""},
		"one before another":           {hidden + harmless, found},
		"one after another":            {harmless + hidden, found},
		"without its list":             {hidden[:len(hidden)-60], found},
		"NUL in a name":                {archive(t, "b.scr\x00.jpg"), found},
		"in another":                   {packed(t, "inner.zip", hidden), found},
		"in another in another":        {packed(t, "outer.zip", packed(t, "inner.ZIP", hidden)), found},
		"harmless in another":          {packed(t, "inner.zip", harmless), ""},
		"no archive in an archive":     {packed(t, "inner.zip", "x"), ""},
		"very deep":                    {deep, "Archives inside archives are nested too deep."},
		"very large":                   {packed(t, "inner.zip", strings.Repeat("\x00", 17<<20)), "The archive contains archives that are too large to be looked into."},
		"very many":                    {strings.Repeat(harmless, 10_001), "The archive contains more than 10000 files."},
		"endless names":                {strings.Repeat("PK\x03\x04"+strings.Repeat("\xff", 30), 10_000), "The archive contains files with endless names."},
	} {
		if got := blocked.File("photos.zip", []byte(c.content)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// attribute is a piece of a file for Outlook: the id and the length of a value, and the value.
func attribute(id, value string) string {
	return "\x02" + id + string(binary.LittleEndian.AppendUint32(nil, uint32(len(value)))) + value + "\x00\x00"
}

func TestFilesThatAreAttachedAsOutlookDoesAreFound(t *testing.T) {
	t.Parallel()
	const start, one = "\x78\x9f\x3e\x22\x01\x00", "\x01\x00\x00\x00"
	const title, data, properties = "\x10\x80\x01\x00", "\x0f\x80\x06\x00", "\x05\x90\x06\x00"
	for _, c := range []struct{ content, want string }{
		{attribute(title, "report.pdf\x00") + attribute(data, "%PDF-1.7"), ""},
		{attribute(title, "report.exe\x00"), "File type .exe is not allowed."},
		{attribute(title, "report.pdf\x00") + attribute(title, "x.vbs\x00"), "File type .vbs is not allowed."},
		{attribute(title, "REPORT~1.PDF\x00") + attribute(properties, one+"\x1e\x00\x07\x37"+one+"\x0b\x00\x00\x00report.exe\x00\x00"), "File type .exe is not allowed."},
		{attribute(properties, one+"\x1f\x00\x07\x37"+one+"\x0a\x00\x00\x00a\x00.\x00j\x00s\x00\x00\x00"), "File type .js is not allowed."},
		{attribute(data, "MZ\x90\x00"), "Programs are not allowed, whatever their name."},
		{title, ""},
		{title + "\xff\xff\xff\xffx.exe", "File type .exe is not allowed."},
		{strings.Repeat(title+"\xff\xff\xff\x7f", 10_000), "The file contains files with endless names."},
	} {
		if got := blocked.File("winmail.dat", []byte(start+c.content)); got != c.want {
			t.Errorf("%.60q: %q, want %q", c.content, got, c.want)
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

// packed is a zip file of one file.
func packed(t *testing.T, name, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	entry, err := w.Create(name)
	if err == nil {
		_, err = entry.Write([]byte(content))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// withExtra is a zip file of one empty file with something beside its name.
func withExtra(t *testing.T, name, extra string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	_, err := w.CreateHeader(&zip.FileHeader{Name: name, Extra: []byte(extra)})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func FuzzFile(f *testing.F) {
	f.Add("photos.zip", []byte("PK\x03\x04"))
	f.Add("x.zip", []byte("PK\x01\x02"+strings.Repeat("\x05\x00", 30)))
	f.Fuzz(func(_ *testing.T, name string, content []byte) { blocked.File(name, content) })
}
