package email_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/mail/address"
	"postrider/product/email"
	"postrider/product/plan"
)

// base64Of encodes content as most SDKs do.
func base64Of(content string) string { return base64.StdEncoding.EncodeToString([]byte(content)) }

// attached is a send with one file.
func attached(file fields) fields { return fields{"attachments": []fields{file}} }

// archiveOf returns a zip with empty files of the given names.
func archiveOf(t *testing.T, names ...string) string {
	t.Helper()
	var buffer bytes.Buffer
	w := zip.NewWriter(&buffer)
	for _, name := range names {
		if _, err := w.CreateHeader(&zip.FileHeader{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.String()
}

func TestFilesArriveInWhateverEncodingTheyWereSent(t *testing.T) {
	t.Parallel()
	const content = "Hello\x00\x01\xff"
	for name, encoded := range map[string]any{
		"base64":           base64Of(content),
		"base64 in lines":  base64Of(content)[:4] + "\r\n" + base64Of(content)[4:],
		"list of numbers":  []int{72, 101, 108, 108, 111, 0, 1, 255},
		"serialised array": fields{"type": "Buffer", "data": []int{72, 101, 108, 108, 111, 0, 1, 255}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := apptest.New(t, "sqlite")
			id := accepted(t, in, attached(fields{"filename": "hello.bin", "content": encoded, "contentType": "application/x-hello"}))
			in.Deliver()
			record := in.Email(id)
			if record.Body["attachment_count"] != 1.0 || record.Body["size_bytes"] != float64(len("Hello there")+len(content)) {
				t.Errorf("%v files, %v bytes", record.Body["attachment_count"], record.Body["size_bytes"])
			}
			raw := in.Mailbox("ann@example.net")[0].Raw
			for _, want := range []string{"Content-Type: application/x-hello", `filename="hello.bin"`, base64Of(content)} {
				if !strings.Contains(raw, want) {
					t.Errorf("%q is not in the message", want)
				}
			}
		})
	}
}

func TestInlineFilesHaveThreeSpellingsOfTheirName(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, spelling := range []string{"content_id", "contentId", "inline_content_id"} {
		to := strings.ReplaceAll(spelling, "_", "-") + "@example.net"
		change := attached(fields{"filename": "logo.png", "content": base64Of("png"), spelling: "logo"})
		change["to"], change["html"] = to, `<img src="cid:logo">`
		accepted(t, in, change)
		in.Deliver()
		raw := in.Mailbox(to)[0].Raw
		if !strings.Contains(raw, "Content-ID: <logo>") || !strings.Contains(raw, "Content-Disposition: inline") || !strings.Contains(raw, "image/png") {
			t.Errorf("%s: %s", spelling, raw)
		}
	}
}

func TestFilesThatCannotBeTakenAreNamed(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	const (
		encoding  = "Must be base64, a list of bytes or a Buffer."
		contentID = "Must be at most 255 printable ASCII characters without spaces, quotes, backslashes and brackets."
	)
	name := func(problem string) map[string]string { return map[string]string{"attachments[0].filename": problem} }
	for title, c := range map[string]struct {
		file fields
		want map[string]string
	}{
		"no content":         {fields{"filename": "a.txt"}, map[string]string{"attachments[0].content": "Content is required, or a path to fetch it from."}},
		"empty content":      {fields{"filename": "a.txt", "content": ""}, map[string]string{"attachments[0].content": "Content is required, or a path to fetch it from."}},
		"empty list":         {fields{"filename": "a.txt", "content": []int{}}, map[string]string{"attachments[0].content": "Content is required, or a path to fetch it from."}},
		"no name":            {fields{"content": "YQ=="}, name("A file name is required.")},
		"only a folder":      {fields{"filename": "../", "content": "YQ=="}, name("A file name is required.")},
		"long name":          {fields{"filename": strings.Repeat("a", 252) + ".txt", "content": "YQ=="}, name("Must have at most 255 bytes.")},
		"name of two lines":  {fields{"filename": "a\r\nBcc: eve@evil.test", "content": "YQ=="}, name("Must not contain control characters.")},
		"content id":         {fields{"filename": "a.png", "content": "YQ==", "content_id": "a(b)"}, map[string]string{"attachments[0].content_id": contentID}},
		"media type":         {fields{"filename": "a.png", "content": "YQ==", "content_type": "png"}, map[string]string{"attachments[0].content_type": "Must be a media type such as application/pdf."}},
		"media type break":   {fields{"filename": "a.png", "content": "YQ==", "contentType": "image/png\r\nBcc: e@evil.test"}, map[string]string{"attachments[0].content_type": "Must be a media type such as application/pdf."}},
		"disposition":        {fields{"filename": "a.png", "content": "YQ==", "disposition": "hidden"}, map[string]string{"attachments[0].disposition": "Must be attachment or inline."}},
		"content id break":   {fields{"filename": "a.png", "content": "YQ==", "content_id": "a\r\nBcc: e@evil.test"}, map[string]string{"attachments[0].content_id": contentID}},
		"not base64":         {fields{"filename": "a.txt", "content": "not base64!"}, map[string]string{"attachments[0].content": "Must be base64."}},
		"number above a bit": {fields{"filename": "a.txt", "content": []int{256}}, map[string]string{"attachments[0].content": encoding}},
		"negative number":    {fields{"filename": "a.txt", "content": []int{-1}}, map[string]string{"attachments[0].content": encoding}},
		"fraction":           {fields{"filename": "a.txt", "content": []float64{1.5}}, map[string]string{"attachments[0].content": encoding}},
		"list of text":       {fields{"filename": "a.txt", "content": []string{"a"}}, map[string]string{"attachments[0].content": encoding}},
		"another object":     {fields{"filename": "a.txt", "content": fields{"type": "Blob", "data": []int{1}}}, map[string]string{"attachments[0].content": encoding}},
	} {
		answer := send(in, attached(c.file))
		if got := problems(answer); answer.Status != http.StatusBadRequest || !maps.Equal(got, c.want) {
			t.Errorf("%s: %d %q", title, answer.Status, got)
		}
	}
}

func TestFoldersAreCutOffFileNames(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, name := range []string{"/etc/passwd", `C:\secret\passwd`, "../../passwd"} {
		to := fmt.Sprintf("user%d@example.net", len(name))
		change := attached(fields{"filename": name, "content": "YQ=="})
		change["to"] = to
		accepted(t, in, change)
		in.Deliver()
		if raw := in.Mailbox(to)[0].Raw; !strings.Contains(raw, `filename="passwd"`) {
			t.Errorf("%s: %s", name, raw)
		}
	}
}

func TestFilesThatRunWhenTheyAreOpenedAreRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	harmless := "just text"
	for _, c := range []struct{ filename, content string }{
		{"x.exe", harmless}, {"X.EXE", harmless}, {"x.exe.", harmless}, {"x.exe ", harmless}, {"x.exe . .", harmless}, {"x.pdf.exe", harmless},
		{"x.e\x00xe", harmless}, {"x\u202Efdp.exe", harmless}, {"x.exe;.pdf", harmless}, {"x.exe\u00a0", harmless}, {"x. exe", harmless},
		{"x.js", harmless}, {"x.vbs", harmless}, {"x.ps1", harmless}, {"x.lnk", harmless}, {"x.scr", harmless}, {"x.hta", harmless},
		{"x.jar", harmless}, {"x.iso", harmless}, {"x.py", harmless}, {".exe", harmless}, {"folder/x.bat", harmless},
		{"report.txt", "MZ\x90\x00"}, {"report.txt", "\x7fELF\x02\x01"}, {"report.pdf", "\xcf\xfa\xed\xfe\x07"}, {"report", "\xca\xfe\xba\xbe"},
		{"report.zip", archiveOf(t, "readme.txt", "folder/setup.EXE")}, {"report.docx", archiveOf(t, "x.js")},
		{"report.zip", "anything" + archiveOf(t, "x.exe")}, {"report.zip", archiveOf(t, "x.e\u200bxe")},
		{"x.exe\u200b", harmless}, {"x.ex\u00ade", harmless}, {"x．ｅｘｅ", harmless}, {"x.exe::$DATA", harmless}, {"x.exe'", harmless},
		{"=?utf-8?q?x=2Eexe?=", harmless}, {"x%2Eexe", harmless}, {"x.%65xe", harmless},
	} {
		answer := send(in, attached(fields{"filename": c.filename, "content": base64Of(c.content)}))
		if answer.Status != http.StatusBadRequest || problems(answer)["attachments[0].filename"] == "" {
			t.Errorf("%q: %d %s", c.filename, answer.Status, answer.Raw)
		}
	}
}

func TestFilesThatRunAreRefusedInATextToo(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	const file = "begin 644 x.exe\n#0V%T\n`\nend\n"
	for field, change := range map[string]fields{
		"text": {"text": "Hello\n" + file},
		"html": {"text": nil, "html": "<p>Hello</p><pre>" + file + "</pre>"}, // of which a text is made
	} {
		if answer := send(in, change); answer.Status != http.StatusBadRequest || problems(answer)[field] != "File type .exe is not allowed." {
			t.Errorf("%s: %d %s", field, answer.Status, answer.Raw)
		}
	}
}

func TestOneOfManyMailsIsNotRefusedForAllOverTheTextThatIsMadeOfIt(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	const page = "<pre>begin 644 x.exe\n#0V%T\n`\nend\n</pre>"
	batch := in.Call(http.MethodPost, "/emails/batch", []any{item("ann@example.net", nil), item("bob@example.net", fields{"text": nil, "html": page})})
	if batch.Status != http.StatusBadRequest || !strings.Contains(batch.Text("error", "details", "fieldErrors"), "[1].html") {
		t.Errorf("a strict batch: %d %s", batch.Status, batch.Raw)
	}
	news, err := in.App.Emails.OpenBulk(t.Context(), email.Bulk{Sender: email.Sender{Workspace: in.Workspace, Plan: plan.Unlimited, Source: email.SourceBroadcast},
		From: address.Address{Local: "news", Domain: "acme.test"}})
	if err == nil {
		letter := email.BulkLetter{ID: email.ID(in.App.World.NewID()), To: address.Address{Local: "bob", Domain: "example.net"}, Subject: "News", HTML: page}
		_, err = in.App.Emails.PrepareBulk(t.Context(), news, []email.BulkLetter{letter})
	}
	if err != nil {
		t.Errorf("a broadcast: %v", err)
	}
}

func TestRefusalNamesTheTypeThatIsNotAllowed(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for want, file := range map[string]fields{
		"File type .exe is not allowed.":                                      {"filename": "X.EXE", "content": "YQ=="},
		"Programs are not allowed, whatever their name.":                      {"filename": "x.txt", "content": base64Of("MZ")},
		"The archive contains a file of type .scr, which is not allowed.":     {"filename": "x.zip", "content": base64Of(archiveOf(t, "a.scr"))},
		"The archive contains more than 10000 files.":                         {"filename": "x.zip", "content": base64Of(archiveOf(t, many(10_001)...))},
		"Must not contain control characters. File type .exe is not allowed.": {"filename": "x\u202Efdp.exe", "content": "YQ=="},
	} {
		if got := problems(send(in, attached(file)))["attachments[0].filename"]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestHarmlessFilesAreTaken(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, c := range []struct{ filename, content string }{
		{"invoice.pdf", "%PDF-1.4"}, {"Größe 👋.txt", "x"}, {"👩\u200d👧.png", "x"}, {"notes.exe.txt", "x"}, {"README", "x"}, {"photos.zip", archiveOf(t, "a.jpg", "b.jpg")},
		{"broken.zip", "PK\x03\x04 and no more"}, {strings.Repeat("a", 251) + ".txt", "x"},
	} {
		if answer := send(in, attached(fields{"filename": c.filename, "content": base64Of(c.content)})); answer.Status != http.StatusAccepted {
			t.Errorf("%q: %d %s", c.filename, answer.Status, answer.Raw)
		}
	}
}

// sendFiles sends files given by the JSON of their contents. The bodies are put together by hand: encoding them takes longer
// than everything that is tested.
func sendFiles(in *apptest.Installation, contents ...string) apptest.Answer {
	files := make([]string, len(contents))
	for i, content := range contents {
		files[i] = `{"filename":"a.txt","content":` + content + `}`
	}
	return in.Call(http.MethodPost, "/emails", []byte(`{"from":"a@acme.test","to":"b@example.net","subject":"s","text":"t","attachments":[`+
		strings.Join(files, ",")+`]}`))
}

func TestSizesOfFilesAreMeasuredDecoded(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	const most = 10 << 20
	blank := func(size int) string { return `"` + base64Of(strings.Repeat(" ", size)) + `"` }
	full, rest := blank(most), blank(5<<20)
	for name, c := range map[string]struct {
		contents []string
		want     map[string]string
	}{
		"21 files":            {slices.Repeat([]string{`"YQ=="`}, 21), map[string]string{"attachments": "At most 20 attachments are allowed."}},
		"10 MB and a byte":    {[]string{blank(most + 1)}, map[string]string{"attachments[0].content": "A file must have at most 10 MB."}},
		"the same in numbers": {[]string{"[" + strings.Repeat("9,", most) + "9]"}, map[string]string{"attachments[0].content": "A file must have at most 10 MB."}},
		"25 MB and a byte":    {[]string{full, full, rest, `"YQ=="`}, map[string]string{"attachments": "All files together must have at most 25 MB."}},
		"20 files":            {slices.Repeat([]string{`"YQ=="`}, 20), map[string]string{}},
		"25 MB":               {[]string{full, full, rest}, map[string]string{}},
	} {
		answer := sendFiles(in, c.contents...)
		if got := problems(answer); !maps.Equal(got, c.want) || (len(got) == 0) != (answer.Status == http.StatusAccepted) {
			t.Errorf("%s: %d %q", name, answer.Status, got)
		}
	}
}

func TestWhatIsTooLargeForAMessageIsRefusedAndNotAccepted(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	const mb = 1 << 20
	files := func(sizes ...int) (list []fields) {
		for i, size := range sizes {
			list = append(list, fields{"filename": fmt.Sprintf("%d.bin", i), "content": base64.StdEncoding.EncodeToString(make([]byte, size))})
		}
		return list
	}
	wide := strings.Repeat("日本", 5*mb/6)
	answer := send(in, fields{"attachments": files(10*mb, 10*mb, 5*mb), "text": wide})
	if answer.Status != http.StatusRequestEntityTooLarge || answer.Text("error", "code") != "payload_too_large" {
		t.Errorf("%d %.300s", answer.Status, answer.Raw)
	}
	if answer := send(in, fields{"attachments": files(10*mb, 10*mb, 5*mb)}); answer.Status != http.StatusAccepted {
		t.Errorf("files alone: %d %.300s", answer.Status, answer.Raw)
	}
	if answer := send(in, fields{"html": wide, "text": wide}); answer.Status != http.StatusAccepted {
		t.Errorf("texts alone: %d %.300s", answer.Status, answer.Raw)
	}
}
