// Package blocked knows the files that mail must not carry, because opening them runs them: by name, by content, inside an archive, and
// inside a text.
package blocked

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"postrider/mail/message"
)

// types are extensions that mailbox providers refuse because opening such a file runs it.
var types = setOf(`
	adp app asp bas bat cer chm cmd com cpl crt csh der exe fxp gadget hlp hta inf ins isp its js jse ksh lib lnk mad maf mag
	mam maq mar mas mat mau mav maw mda mdb mde mdt mdw mdz msc msh msh1 msh2 mshxml msh1xml msh2xml msi msp mst ops pcd pif
	plg prf prg reg scf scr sct shb shs sys ps1 ps1xml ps2 ps2xml psc1 psc2 tmp url vb vbe vbs vps vsmacros vss vst vsw vxd
	ws wsc wsf wsh xnk jar apk dll iso img vhd vhdx sh bash py pyw
	ade appx appxbundle msix msixbundle application appref-ms cab diagcab diagcfg diagpkg dmg ex ex_ jnlp mjs msu nsh
	psd1 psdm1 pyz pyzw settingcontent-ms website xbap xll`)

// usual are the extensions that mail programs give to files without a name, by their media types, where they are looked into or refused.
var usual = map[string]string{
	"application/hta": "hta", "application/javascript": "js", "application/x-javascript": "js", "text/javascript": "js",
	"application/x-msdownload": "exe", "application/x-msdos-program": "exe", "application/x-dosexec": "exe",
	"application/vnd.microsoft.portable-executable": "exe", "application/x-msi": "msi", "application/x-bat": "bat", "text/vbscript": "vbs",
	"application/x-ms-shortcut": "lnk", "application/x-ms-application": "application", "application/java-archive": "jar",
	"application/x-java-archive": "jar", "application/x-java-jnlp-file": "jnlp", "application/vnd.android.package-archive": "apk",
	"application/x-iso9660-image": "iso", "application/x-apple-diskimage": "dmg", "application/vnd.ms-cab-compressed": "cab",
	"application/zip": "zip", "application/x-zip": "zip", "application/x-zip-compressed": "zip",
}

// NameOf is what programs call a file that has a media type but no name, if that matters here.
func NameOf(mediaType string) string {
	if extension := usual[mediaType]; extension != "" {
		return "file." + extension
	}
	return ""
}

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

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

// IsArchive tells by its first bytes or by a name whether a file is an archive that is looked into, or what Outlook makes of files.
// Programs that open archives look for the list at the end and take anything before it.
func IsArchive(content []byte, names ...string) bool {
	return bytes.HasPrefix(content, []byte("PK\x03\x04")) || bytes.HasPrefix(content, []byte(tnefMark)) || slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(extensions(name), func(extension string) bool { return extension == "zip" })
	})
}

// Content looks at what a file is, whatever it is called.
func Content(content []byte, names ...string) (problem string) {
	switch {
	case isProgram(content):
		return programProblem
	case bytes.HasPrefix(content, []byte(tnefMark)):
		return tnefProblem(content)
	case IsArchive(content, names...):
		return archiveProblem(content)
	}
	return ""
}

const programProblem = "Programs are not allowed, whatever their name."

func isProgram(content []byte) bool {
	return slices.ContainsFunc(programs, func(magic string) bool { return bytes.HasPrefix(content, []byte(magic)) })
}

// typeOf returns the type that a name must not have, or nothing.
func typeOf(name string) string {
	for _, extension := range extensions(name) {
		if types[extension] {
			return extension
		}
	}
	return ""
}

// extensions are those that a name may turn out to have. Mail programs decode it, and a part may hide behind a semicolon or a NUL.
func extensions(name string) []string {
	var found []string
	forms := []string{name}
	if strings.Contains(name, "=?") {
		forms = append(forms, message.DecodeHeader(name))
	}
	if strings.Contains(name, "%") {
		forms = append(forms, unescape(name))
	}
	for _, form := range forms {
		for part := range strings.FieldsFuncSeq(form, isSeparator) {
			found = append(found, extensionOf(part))
		}
	}
	return found
}

// isSeparator tells of a NUL, and of a semicolon and what is taken for one.
func isSeparator(r rune) bool {
	return r == 0 || r == ';' || r == '\u037e' || r == '\ufe54' || r == '\uff1b'
}

// maxExtension is more than the longest that is looked for.
const maxExtension = 24

// extensionOf reads a name from its end, because hostile ones are long. Windows drops dots, spaces and the name of a stream there, and older
// programs take letters for those that look alike and do not see others.
func extensionOf(name string) string {
	name, _, _ = strings.Cut(name, "::$")
	end := ""
	for name != "" && len(end) <= maxExtension {
		r, size := utf8.DecodeLastRuneInString(name)
		letter := name[len(name)-size:]
		name = name[:len(name)-size]
		if unicode.Is(unicode.Cf, r) {
			continue
		}
		if r >= utf8.RuneSelf && r != utf8.RuneError {
			if plain := norm.NFKC.PropertiesString(letter).Decomposition(); plain != nil {
				letter = string(plain)
			}
		}
		if end == "" {
			letter = strings.TrimRight(letter, ". \t\r\n\"'<>/\\")
		}
		end = strings.ToLower(letter) + end
		if dot := strings.LastIndexByte(end, '.'); dot >= 0 {
			return strings.TrimSpace(end[dot+1:])
		}
		if strings.Contains(end, "/") {
			return ""
		}
	}
	return ""
}

// escape is a character as links are written.
var escape = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// unescape undoes the escapes of links and leaves what is none.
func unescape(name string) string {
	return escape.ReplaceAllStringFunc(name, func(code string) string {
		raw, _ := hex.DecodeString(code[1:]) // the pattern lets nothing else through
		return string(raw)
	})
}

// IsDisguised tells whether a name holds characters that make it look like another.
func IsDisguised(name string) bool {
	return strings.IndexFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) >= 0
}
