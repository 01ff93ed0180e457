package email

import (
	"time"

	"postrider/platform/blob"
)

// LinkToBlob returns a link to content that another slice keeps. The link needs no key, so it does not last.
func (s *Service) LinkToBlob(ref blob.Ref, filename string) (url string, expires time.Time) {
	return s.link(fileLink{Blob: ref, Filename: filename})
}
