package db

// Composed begins statements whose text is put together from what somebody asks for, such as the filter of a segment. There are too
// many of them to remember each.
const Composed = "/* composed */ "
