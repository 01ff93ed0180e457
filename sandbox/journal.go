package sandbox

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// journal is a file of lines that only grows. A line is there whole or not at all: what a killed process left half written at
// the end is cut off when the file is opened again. It is not synced, because a sandbox need not outlive the machine.
type journal struct {
	file *os.File
	size int64
}

// openJournal opens or makes the file at path and hands each whole line, without its end, to read. A line is valid only
// during the call.
func openJournal(path string, read func(line []byte, offset int64)) (*journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: file}
	if err := j.replay(read); err != nil {
		file.Close()
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return j, nil
}

func (j *journal) replay(read func(line []byte, offset int64)) error {
	in := bufio.NewReaderSize(j.file, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return j.file.Truncate(j.size)
		}
		if err != nil {
			return err
		}
		read(bytes.TrimSuffix(line, []byte("\n")), j.size)
		j.size += int64(len(line))
	}
}

// append writes one line, which must not hold a line end, and returns where it begins.
func (j *journal) append(line []byte) (int64, error) {
	offset := j.size
	if _, err := j.file.WriteAt(append(line, '\n'), offset); err != nil {
		// The next line overwrites what was half written.
		return 0, err
	}
	j.size += int64(len(line)) + 1
	return offset, nil
}

// appendJSON writes a value as one line.
func (j *journal) appendJSON(value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = j.append(line)
	return err
}

// read returns the line of the given length at offset.
func (j *journal) read(offset int64, length int) ([]byte, error) {
	line := make([]byte, length)
	_, err := j.file.ReadAt(line, offset)
	return line, err
}

func (j *journal) close() error { return j.file.Close() }
