// Package blocked knows the files that mail must not carry, because opening them runs them: by name, by content, inside an archive, and
// inside a text.
package blocked

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"postrider/mail/message"
)

// maxEntries bounds how many files of an archive are looked at; one with more is refused.
const maxEntries = 10_000

// types are extensions that mailbox providers refuse because opening such a file runs it.
var types = strings.Fields(`
	adp app asp bas bat cer chm cmd com cpl crt csh der exe fxp gadget hlp hta inf ins isp its js jse ksh lib lnk mad maf mag
	mam maq mar mas mat mau mav maw mda mdb mde mdt mdw mdz msc msh msh1 msh2 mshxml msh1xml msh2xml msi msp mst ops pcd pif
	plg prf prg reg scf scr sct shb shs sys ps1 ps1xml ps2 ps2xml psc1 psc2 tmp url vb vbe vbs vps vsmacros vss vst vsw vxd
	ws wsc wsf wsh xnk jar apk dll iso img vhd vhdx sh bash py pyw`)

// programs are the first bytes of files that run: Windows, Linux and macOS.
var programs = []string{"MZ", "\x7fELF", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"}

// File says what is wrong with a file, or nothing.
func File(name string, content []byte) (problem string) {
	if problem := Name(name); problem != "" {
		return problem
	}
	return Content(content, name)
}

// Name says what is wrong with what a file is called.
func Name(name string) (problem string) {
	if extension := typeOf(name); extension != "" {
		return fmt.Sprintf("File type .%s is not allowed.", extension)
	}
	return ""
}

// Text looks for files that stand in a text, as they did before there were attachments.
func Text(text string) (problem string) {
	err := message.WalkText(strings.NewReader(text), func(name string, content io.Reader) error {
		if problem == "" {
			raw, _ := io.ReadAll(content) // a string can always be read
			problem = File(name, raw)
		}
		return nil
	})
	if problem == "" && err != nil {
		return "The name of a file in the text is too long."
	}
	return problem
}

// IsArchive tells by its first bytes or by a name whether a file is an archive that is looked into. Programs that open archives look for
// the list at the end and take anything before it.
func IsArchive(content []byte, names ...string) bool {
	return bytes.HasPrefix(content, []byte("PK\x03\x04")) || slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(extensions(name), func(extension string) bool { return extension == "zip" })
	})
}

// Content looks at what a file is, whatever it is called.
func Content(content []byte, names ...string) (problem string) {
	for _, magic := range programs {
		if bytes.HasPrefix(content, []byte(magic)) {
			return "Programs are not allowed, whatever their name."
		}
	}
	if !IsArchive(content, names...) {
		return ""
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return "" // damaged archives cannot be opened by the recipient either
	}
	for i, entry := range archive.File {
		if i >= maxEntries {
			return fmt.Sprintf("The archive contains more than %d files.", maxEntries)
		}
		if extension := typeOf(entry.Name); extension != "" {
			return fmt.Sprintf("The archive contains a file of type .%s, which is not allowed.", extension)
		}
	}
	return ""
}

// typeOf returns the type that a name must not have, or nothing.
func typeOf(name string) string {
	for _, extension := range extensions(name) {
		if slices.Contains(types, extension) {
			return extension
		}
	}
	return ""
}

// extensions are those that a name may turn out to have. Mail programs decode it, Windows drops dots, spaces and the name of a stream from
// its end, older programs take letters for those that look alike and do not see others, and a part may hide behind a semicolon.
func extensions(name string) []string {
	var found []string
	forms := []string{name, message.DecodeHeader(name)}
	if plain, err := url.PathUnescape(name); err == nil {
		forms = append(forms, plain)
	}
	for _, form := range forms {
		form = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) {
				return -1
			}
			return unicode.ToLower(r)
		}, norm.NFKC.String(form))
		for part := range strings.SplitSeq(form, ";") {
			part, _, _ = strings.Cut(part, "::$")
			part = strings.TrimRight(part, ". \t\"'<>")
			found = append(found, strings.TrimSpace(strings.TrimPrefix(path.Ext(part), ".")))
		}
	}
	return found
}

// IsDisguised tells whether a name holds characters that make it look like another.
func IsDisguised(name string) bool {
	return strings.IndexFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) >= 0
}
