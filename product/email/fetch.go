package email

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"postrider/mail/blocked"
	"postrider/platform/api"
	"postrider/platform/httpout"
)

const (
	// fetchOne and fetchAll bound how long a file that is named by its address may take, and all those of a request.
	fetchOne = 15 * time.Second
	fetchAll = 30 * time.Second
	// fetchTogether is how many emails of a batch have their files fetched side by side. They are in memory together.
	fetchTogether = 4
)

// NewFetcher returns the client that fetches files for customers.
func NewFetcher(config httpout.Config) *httpout.Client {
	config.MaxResponseBytes, config.Timeout = maxFileBytes, fetchOne
	return httpout.New(config)
}

// fetchGroup gets the files of a few emails of a batch side by side.
func (s *Service) fetchGroup(ctx context.Context, emails []*candidate) {
	var all sync.WaitGroup
	for _, c := range emails {
		if c.err == nil && slices.ContainsFunc(c.draft.Files, func(f File) bool { return f.source != "" }) {
			all.Go(func() { c.err = s.fetchFiles(ctx, c.draft.Files) })
		}
	}
	all.Wait()
}

// fetchFiles gets the files that are named by their address. It runs once all that can be checked without them is found good, and
// what comes is checked like any other file.
func (s *Service) fetchFiles(ctx context.Context, files []File) error {
	var wrong api.Fields
	total := 0
	for i := range files {
		file := &files[i]
		at := func(field string) string { return fmt.Sprintf("attachments[%d].%s", i, field) }
		if file.source != "" {
			if problem := s.fetchFile(ctx, file); problem != "" {
				wrong.Add(at("path"), problem)
				continue
			}
			if problem := nameProblem(file.Filename); problem != "" {
				wrong.Add(at("filename"), problem)
			}
			if problem := blocked.File(file.Filename, file.Content); problem != "" {
				wrong.Add(at("filename"), problem)
			}
		}
		if total += len(file.Content); total > maxFilesBytes {
			wrong.Add("attachments", tooManyBytes)
			break // the others would only fill the memory
		}
	}
	return wrong.Err()
}

// fetchFile returns what is wrong, in a sentence for the sender, or nothing.
func (s *Service) fetchFile(ctx context.Context, file *File) string {
	if s.fetcher == nil {
		return "Files cannot be fetched here; send their content."
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, file.source, nil)
	if err != nil {
		return "Must be a URL that begins with https://."
	}
	answer, err := s.fetcher.Do(ctx, request)
	var refusal *httpout.Refusal
	switch {
	case errors.As(err, &refusal):
		return refusal.Sentence
	case err != nil:
		return "The file could not be fetched: " + strings.ReplaceAll(string(httpout.ReasonOf(err)), "_", " ") + "."
	case answer.Status != http.StatusOK:
		return fmt.Sprintf("The server answered %d instead of the file.", answer.Status)
	case answer.Truncated:
		return "A file must have at most 10 MB."
	case len(answer.Body) == 0:
		return "The file is empty."
	}
	file.Content = answer.Body
	if file.Filename == "" {
		file.Filename = nameFromURL(file.source)
	}
	if file.ContentType == "" {
		file.ContentType = typeOf(*file)
	}
	return ""
}

// nameFromURL is the last part of the path, as people see it.
func nameFromURL(source string) string {
	u, err := url.Parse(source)
	if err != nil {
		return ""
	}
	name := path.Base(u.Path)
	if name == "/" || name == "." {
		return ""
	}
	return name
}
