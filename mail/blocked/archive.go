package blocked

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

const (
	// maxEntries bounds how many files of an archive are looked at; one with more is refused.
	maxEntries = 10_000
	// maxNested is how deep archives in archives are opened, and maxInside how many bytes of them; honest ones are hardly larger than the
	// archive around them.
	maxNested = 3
	maxInside = 16 << 20
	// maxNameBytes bounds what is read of names: hostile ones lie over one another.
	maxNameBytes = 4 << 20
)

// An archive names its files twice: before each of them, and in a list at its end. Programs go by one or the other, by the first list or by
// the last, and by a name in Unicode that may stand beside either, so all names count wherever they are.
const (
	archiveMark = "PK"
	beforeFile  = "\x03\x04"
	inList      = "\x01\x02"
	// unicodeName is the extra field with a name that takes the place of the other (APPNOTE 4.6.9).
	unicodeName = 0x7075
)

// archiveProblem says what is wrong with an archive, or nothing. What it says of itself is looked at even if it is damaged: some programs
// repair it.
func archiveProblem(content []byte) (problem string) {
	left := int64(maxInside)
	return insideArchive(content, maxNested, &left)
}

func insideArchive(content []byte, depth int, left *int64) (problem string) {
	if problem := namesInArchive(content); problem != "" {
		return problem
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return ""
	}
	for _, entry := range archive.File {
		if !slices.Contains(extensions(entry.Name), "zip") {
			continue
		}
		if depth == 0 {
			return "Archives inside archives are nested too deep."
		}
		inner, whole := unpack(entry, left)
		if !whole {
			return "The archive contains archives that are too large to be looked into."
		}
		if problem := insideArchive(inner, depth-1, left); problem != "" {
			return problem
		}
	}
	return ""
}

// unpack returns what can be read of a file, and whether that was less than may be.
func unpack(entry *zip.File, left *int64) (content []byte, whole bool) {
	r, err := entry.Open()
	if err != nil {
		return nil, true // packed in a way that hardly any program knows
	}
	defer r.Close()
	content, _ = io.ReadAll(io.LimitReader(r, *left+1)) // some programs make do with what comes before the damage
	*left -= int64(len(content))
	return content, *left >= 0
}

// namesInArchive looks at every name in an archive, and in those that stand in it as they are.
func namesInArchive(content []byte) (problem string) {
	entries, bytesRead := 0, 0
	for {
		at := bytes.Index(content, []byte(archiveMark))
		if at < 0 || at+4 > len(content) {
			return ""
		}
		content = content[at:]
		names := namesAt(content)
		content = content[len(archiveMark):]
		if names == nil {
			continue
		}
		if entries++; entries > 2*maxEntries {
			return fmt.Sprintf("The archive contains more than %d files.", maxEntries)
		}
		for _, name := range names {
			if bytesRead += len(name); bytesRead > maxNameBytes {
				return "The archive contains files with endless names."
			}
			if extension := typeOf(name); extension != "" {
				return fmt.Sprintf("The archive contains a file of type .%s, which is not allowed.", extension)
			}
		}
	}
}

// namesAt returns the names that one header gives a file, if it is a header.
func namesAt(header []byte) []string {
	lengths, fixed := 0, 0
	switch string(header[2:4]) {
	case beforeFile:
		lengths, fixed = 26, 30
	case inList:
		lengths, fixed = 28, 46
	default:
		return nil
	}
	if len(header) < fixed {
		return nil
	}
	name, extra := int(binary.LittleEndian.Uint16(header[lengths:])), int(binary.LittleEndian.Uint16(header[lengths+2:]))
	rest := header[fixed:]
	names := []string{string(rest[:min(name, len(rest))])}
	rest = rest[min(name, len(rest)):]
	for extra = min(extra, len(rest)); extra >= 4; {
		id, size := binary.LittleEndian.Uint16(rest), int(binary.LittleEndian.Uint16(rest[2:]))
		size = min(size, extra-4)
		if id == unicodeName && size > 5 { // a version and a sum come first
			names = append(names, string(rest[4+5:4+size]))
		}
		rest, extra = rest[4+size:], extra-4-size
	}
	return names
}
