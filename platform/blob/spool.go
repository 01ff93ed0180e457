package blob

import (
	"bytes"
	"io"
	"os"
)

// spoolInMemory is how much content is held in memory; most mails are smaller, and more goes to a file.
const spoolInMemory = 1 << 20

// spool holds content until its end is known. The zero value is empty.
type spool struct {
	dir    string // of the file
	memory bytes.Buffer
	file   *os.File
}

func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && s.memory.Len()+len(p) <= spoolInMemory {
		return s.memory.Write(p)
	}
	if s.file == nil {
		if err := s.moveToFile(); err != nil {
			return 0, err
		}
	}
	return s.file.Write(p)
}

func (s *spool) moveToFile() error {
	file, err := os.CreateTemp(s.dir, "postrider-spool-*") // 0600
	if err != nil {
		return err
	}
	s.file = file
	// Without a name the file goes away with the process, whatever happens to it.
	if err := os.Remove(file.Name()); err != nil {
		return err
	}
	_, err = s.memory.WriteTo(file)
	return err
}

// reader returns the content from its beginning; it can seek, so that a request can be made again.
func (s *spool) reader() (io.ReadSeeker, error) {
	if s.file == nil {
		return bytes.NewReader(s.memory.Bytes()), nil
	}
	size, err := s.file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	return io.NewSectionReader(s.file, 0, size), nil
}

func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
	}
}
