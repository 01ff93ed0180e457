package suppression

// PageStyle is the look of pages for people who follow a link in a mail.
func PageStyle() string { return pageStyle }
