package smtp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const (
	// maxReplyBytes bounds what one reply may make us hold; the longest honest ones, with links to help pages, have 2 KB.
	maxReplyBytes = 64 << 10
	// maxReplyLines is far above the longest EHLO answer in use.
	maxReplyLines = 100
	// replyBuffer holds all replies of a usual pipelined transaction.
	replyBuffer = 4 << 10
)

// readReply reads one reply of one or more lines. A reply that breaks the rules is a *ProtocolError, a connection that ends
// before the last line is io.ErrUnexpectedEOF.
func readReply(br *bufio.Reader) (Reply, error) {
	var reply Reply
	budget := maxReplyBytes
	for {
		line, err := readReplyLine(br, &budget)
		if err != nil {
			return Reply{}, err
		}
		code, more, text, err := parseReplyLine(line)
		if err != nil {
			return Reply{}, err
		}
		switch {
		case reply.Code == 0:
			reply.Code = code
		case reply.Code != code:
			return Reply{}, &ProtocolError{Problem: "lines of one reply carry different codes"}
		case len(reply.Lines) == maxReplyLines:
			return Reply{}, &ProtocolError{Problem: "reply has too many lines"}
		}
		reply.Lines = append(reply.Lines, plainText(text))
		if !more {
			stripEnhanced(&reply)
			return reply, nil
		}
	}
}

// readReplyLine returns the next line without its end. The slice is valid until the next read. A bare LF is taken as an end,
// as everyone does: unlike in a message, there is nothing to smuggle past.
func readReplyLine(br *bufio.Reader, budget *int) ([]byte, error) {
	line, err := br.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line = bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) && len(line) <= *budget {
			var more []byte
			more, err = br.ReadSlice('\n')
			line = append(line, more...)
		}
	}
	if len(line) > *budget {
		return nil, &ProtocolError{Problem: "reply is too long"}
	}
	if errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	*budget -= len(line)
	return bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'}), nil
}

func parseReplyLine(line []byte) (code int, more bool, text []byte, err error) {
	if len(line) < 3 || line[0] < '2' || line[0] > '5' || !isDigit(line[1]) || !isDigit(line[2]) {
		return 0, false, nil, &ProtocolError{Problem: "reply does not start with a code"}
	}
	code = int(line[0]-'0')*100 + int(line[1]-'0')*10 + int(line[2]-'0')
	if len(line) == 3 {
		return code, false, nil, nil
	}
	switch line[3] {
	case ' ':
		return code, false, line[4:], nil
	case '-':
		return code, true, line[4:], nil
	}
	return 0, false, nil, &ProtocolError{Problem: "reply code is not followed by a space or a dash"}
}

// stripEnhanced moves the enhanced code from the text to its own field.
func stripEnhanced(reply *Reply) {
	reply.Enhanced, _ = cutEnhanced(reply.Code, reply.Lines[0])
	if reply.Enhanced == "" {
		return
	}
	for i, line := range reply.Lines {
		if enhanced, rest := cutEnhanced(reply.Code, line); enhanced == reply.Enhanced {
			reply.Lines[i] = rest
		}
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
