package web

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
)

func importPages() []page {
	return []page{
		{"GET /audience/import", needing("audience:manage", showImport)}, {"POST /audience/import", readImport}, {"POST /audience/import/start", startImport},
		{"GET /audience/imports", listImports}, {"GET /audience/imports/{id}", showImportJob},
	}
}

// importPage takes a file of contacts, or a table that is pasted.
type importPage struct {
	shell
	Pasted  string
	Problem *problem
}

func showImport(v *visit) error {
	return v.show("audience/import", importPage{shell: v.audienceShell("Import contacts")})
}

// mapPage says what each column of a file holds. The file travels with the form.
type mapPage struct {
	shell
	Filename, Packed string
	Columns          []mapColumn
	Sample           [][]string
	Rows             int64
	RowsText         string
	Checked          []finding
	Lists            []choice
	Conflicts        []choice
	Confirmations    bool
	// Ready tells that a column holds addresses.
	Ready   bool
	Problem *problem
}

type mapColumn struct {
	Number  int
	Name    string
	Choices []choice
}

// finding is what a look at something before it is done says: good, doubtful, bad, or still to be done.
type finding struct{ State, Icon, Title, Text, Href, Link string }

func good(title, text string) finding { return finding{"good", "circle-check", title, text, "", ""} }
func doubtful(title, text string) finding {
	return finding{"doubt", "triangle-alert", title, text, "", ""}
}

// undone is what somebody has not come to yet.
func undone(title, text string) finding {
	return finding{"open", "circle-dashed", title, text, "", ""}
}

func bad(title, text string) finding { return finding{"bad", "circle-x", title, text, "", ""} }

// to adds a place where what was found can be mended.
func (f finding) to(href, link string) finding {
	f.Href, f.Link = href, link
	return f
}

func readImport(v *visit) error {
	filename, raw, err := v.uploaded()
	if err != nil {
		return err
	}
	read, err := readSheet(raw)
	if refused, ok := err.(*problem); ok {
		return v.showStatus(refused.Status, "audience/import", importPage{shell: v.audienceShell("Import contacts"), Pasted: v.value("pasted"), Problem: refused})
	}
	known, err := v.properties()
	if err != nil {
		return err
	}
	return v.showMap(http.StatusOK, filename, raw, read, read.guess(known), known, nil)
}

// uploaded returns the file that was chosen, or what was pasted in its place.
func (v *visit) uploaded() (name string, raw []byte, err error) {
	if v.r.MultipartForm != nil {
		for _, header := range v.r.MultipartForm.File["file"] {
			file, err := header.Open()
			if err != nil {
				return "", nil, fmt.Errorf("open an upload: %w", err)
			}
			defer file.Close()
			if raw, err = io.ReadAll(file); err != nil {
				return "", nil, fmt.Errorf("read an upload: %w", err)
			}
			if len(raw) > 0 {
				return header.Filename, raw, nil
			}
		}
	}
	return "pasted.csv", []byte(v.value("pasted")), nil
}

func (v *visit) showMap(status int, filename string, raw []byte, read *sheet, targets []string, known []propertyRecord, wrong *problem) error {
	p := mapPage{shell: v.audienceShell("Match columns", crumb{"Import contacts", v.link("audience", "import")}), Filename: visible(filename), Packed: pack(raw), Sample: read.Sample,
		Rows: read.Rows, RowsText: v.plural(read.Rows, "row", "rows"), Confirmations: v.checked("send_confirmations"), Problem: wrong}
	p.Conflicts = choices(v.value("on_conflict"), "upsert", "Update them with what the file says", "skip", "Leave them as they are")
	for i, name := range read.Header {
		pairs := []string{"", "Leave out", "email", "Email address", "first_name", "First name", "last_name", "Last name", "unsubscribed", "Unsubscribed (yes or no)"}
		for _, property := range known {
			pairs = append(pairs, property.Key, "Property: "+property.title())
		}
		if name == "" {
			name = fmt.Sprintf("Column %d", i+1)
		}
		p.Columns = append(p.Columns, mapColumn{Number: i + 1, Name: visible(name), Choices: choices(at(targets, i), pairs...)})
	}
	p.Checked, p.Ready = v.checkSheet(read, targets)
	lists, err := v.named("/v1/audience/lists", nil)
	if err != nil {
		return err
	}
	p.Lists = namesOf(lists, "No list", v.value("list_id"))
	return v.showStatus(status, "audience/map", p)
}

func at(all []string, i int) string {
	if i < len(all) {
		return all[i]
	}
	return ""
}

// checkSheet tells what would become of the rows, as far as the file alone shows it.
func (v *visit) checkSheet(read *sheet, targets []string) (found []finding, ready bool) {
	column := slices.Index(targets, "email")
	if column < 0 || column >= len(read.Header) {
		return []finding{bad("No column holds addresses", "Choose “Email address” above the column that does.")}, false
	}
	c := read.check(column)
	found = append(found, good(v.plural(c.Good, "address", "addresses"), "Each becomes a contact, or updates the one that is there."))
	if c.Wrong > 0 {
		found = append(found, doubtful(v.plural(c.Wrong, "row has no good address", "rows have no good address"), "Left out, and listed with the result. The first says “"+c.Example+"”."))
	}
	if c.Twice > 0 {
		found = append(found, doubtful(v.plural(c.Twice, "row repeats an address", "rows repeat an address"), "They become one contact."))
	}
	for i, target := range targets {
		if target != "" && slices.Index(targets, target) < i {
			return append(found, bad("Two columns hold the same", "Choose “Leave out” above one of them.")), false
		}
	}
	return found, c.Good > 0
}

func startImport(v *visit) error {
	raw, err := unpack(v.value("packed"))
	if err != nil {
		return err
	}
	read, err := readSheet(raw)
	if err != nil {
		return err
	}
	known, err := v.properties()
	if err != nil {
		return err
	}
	targets := v.form["column"]
	_, ready := v.checkSheet(read, targets)
	if v.value("do") == "check" || !ready {
		return v.showMap(http.StatusOK, v.value("filename"), raw, read, targets, known, nil)
	}
	var job struct{ ID string }
	if err := v.upload(read.withColumns(targets), &job); err != nil {
		refused := refusal(err)
		if refused == nil {
			return err
		}
		return v.showMap(refused.Status, v.value("filename"), raw, read, targets, known, refused)
	}
	return v.redirect(fmt.Sprintf("%s?rows=%d", v.link("audience", "imports", job.ID), read.Rows), "")
}

// upload hands a file to the API as a form, as programs do.
func (v *visit) upload(file []byte, out any) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range map[string]string{"list_id": v.value("list_id"), "on_conflict": v.value("on_conflict"), "send_confirmations": fmt.Sprint(v.checked("send_confirmations"))} {
		if strings.TrimSpace(value) != "" {
			_ = form.WriteField(name, value) // a buffer takes everything
		}
	}
	part, err := form.CreateFormFile("file", v.value("filename"))
	if err == nil {
		_, err = part.Write(file)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		return fmt.Errorf("write the form of an import: %w", err)
	}
	got, err := v.ask(http.MethodPost, "/v1/audience/contacts/import", form.FormDataContentType(), bytes.NewReader(body.Bytes()))
	if err != nil {
		return err
	}
	return got.into(out)
}
