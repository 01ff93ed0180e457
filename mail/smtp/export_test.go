package smtp

// ServeConn lets tests drive one connection without a listener.
var ServeConn = (*Server).serveConn

// Parts with tables of their own.
var (
	ParsePath       = parsePath
	ParseMailParams = parseMailParams
	ParseRcptParams = parseRcptParams
	ReadReply       = readReply
	AppendWire      = Reply.appendWire
)

// Limits that tests go up to and over.
const (
	ReadBuffer    = readBuffer
	MaxDrainBytes = maxDrainBytes
	PipelineBytes = pipelineBytes
)
