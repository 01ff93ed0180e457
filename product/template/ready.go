package template

import (
	"errors"
	"fmt"
	"sync"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/template/internal/page"
	"postrider/product/template/internal/render"
)

// Ready is a source that has been read and can be rendered any number of times, by many at once.
type Ready struct {
	// Template and Version say where the source comes from; they are empty and 0 for one that was not saved.
	Template ID
	Version  int64

	source Source
	parts  map[part]*render.Program
	// shown is the HTML as it is rendered; parts has it as it was written.
	shown     *render.Program
	fallbacks map[string]any
	// used are the variables that the source mentions, each once; mentions has the same.
	used     []string
	mentions map[string]bool
}

// From returns the sender that the source names; empty if it names none.
func (r *Ready) From() string { return r.source.From }

// part is a piece of a source that values can stand in, by its name on the wire.
type part string

const (
	subjectPart part = "subject"
	previewPart part = "preview_text"
	htmlPart    part = "html"
	textPart    part = "text"
)

// partOrder is the order in which parts are read and rendered, which is that of a reader.
var partOrder = []part{subjectPart, previewPart, htmlPart, textPart}

func (s Source) part(p part) string {
	return map[part]string{subjectPart: s.Subject, previewPart: s.PreviewText, htmlPart: s.HTML, textPart: s.Text}[p]
}

// brokenPart is a mistake in the source of a part.
type brokenPart struct {
	part part
	*render.SyntaxError
}

// Compile reads a source. Its error is ErrRender with the line and the column of the first mistake.
func Compile(source Source) (*Ready, error) {
	r, broken := compile(source)
	if broken != nil {
		return nil, broken[0].refusal()
	}
	return r, nil
}

// compile reads a source and returns the mistake of each part that has one.
func compile(source Source) (*Ready, []brokenPart) {
	r := &Ready{source: source, parts: map[part]*render.Program{}, fallbacks: map[string]any{}, mentions: map[string]bool{}}
	var broken []brokenPart
	for _, p := range partOrder {
		text := source.part(p)
		if text == "" {
			continue
		}
		kind := render.Text
		if p == htmlPart {
			kind = render.HTML
		}
		program, err := render.Parse(text, kind)
		var mistake *render.SyntaxError
		if errors.As(err, &mistake) {
			broken = append(broken, brokenPart{p, mistake})
			continue
		}
		r.parts[p] = program
		for _, name := range program.Names() {
			if !r.mentions[name] {
				r.mentions[name] = true
				r.used = append(r.used, name)
			}
		}
	}
	if broken != nil {
		return nil, broken
	}
	if r.shown = r.parts[htmlPart]; source.InlineCSS && r.shown != nil {
		// What the author wrote could be read; should the styles break it, they stay where they are.
		if styled, err := render.Parse(page.InlineStyles(source.HTML), render.HTML); err == nil {
			r.shown = styled
		}
	}
	for _, v := range source.Variables {
		if value, ok := v.fallbackValue(); ok {
			r.fallbacks[v.Key] = value
		}
	}
	return r, nil
}

// refusal is the error of a source that cannot be rendered.
func (b brokenPart) refusal() error {
	return ErrRender.Saying(fmt.Sprintf("The %s of the template cannot be rendered. %s", b.part, b.where())).
		With("missing", []string{}).With("line", b.Line).With("column", b.Column).With("part", b.part)
}

func (b brokenPart) where() string {
	return fmt.Sprintf("Line %d, column %d: %s", b.Line, b.Column, b.Message)
}

// checkSyntax notes the mistakes of a source that is to be published.
func checkSyntax(wrong *api.Fields, source Source) {
	_, broken := compile(source)
	for _, b := range broken {
		wrong.Add(string(b.part), b.where())
	}
}

// Select says which source of a template is meant: by default that of the active version.
type Select struct {
	// Version is the number of a version; 0 means the active one.
	Version int64
	Draft   bool
}

// Load returns the source of a template, ready to be rendered. A template that is archived, or that has no version to send, is
// refused as the field template.id of a request.
func (s *Service) Load(tx *db.Tx, ws space.ID, name string, which Select) (*Ready, error) {
	t, err := find(tx, ws, name)
	switch {
	case err != nil:
		return nil, err
	case t.Status == Archived:
		return nil, api.Invalid("template.id", "The template is archived.")
	case !which.Draft && which.Version == 0 && t.Active == 0:
		return nil, api.Invalid("template.id", "The template has no published version yet. Publish it first.")
	}
	return s.load(tx, t, which)
}

// load returns a source of a template in any status.
func (s *Service) load(tx *db.Tx, t Template, which Select) (*Ready, error) {
	if which.Draft {
		source, err := selectDraft(tx, t.Workspace, t.ID)
		if err != nil {
			return nil, orVersionNotFound(err)
		}
		r, err := Compile(source)
		if err != nil {
			return nil, err
		}
		r.Template = t.ID
		return r, nil
	}
	id, number := t.ActiveID, t.Active
	if which.Version != 0 && which.Version != t.Active {
		var err error
		if id, err = selectVersionID(tx, t.Workspace, t.ID, which.Version); err != nil {
			return nil, orVersionNotFound(err)
		}
		number = which.Version
	}
	if id == "" {
		return nil, ErrVersionNotFound
	}
	if r := s.shelf.get(id); r != nil {
		return r, nil
	}
	v, err := selectVersion(tx, t.Workspace, t.ID, number)
	if err != nil {
		return nil, orVersionNotFound(err)
	}
	r, err := Compile(v.Source)
	if err != nil {
		return nil, err
	}
	r.Template, r.Version = t.ID, number
	s.shelf.put(id, r)
	return r, nil
}

func orVersionNotFound(err error) error {
	if errors.Is(err, db.ErrNotFound) {
		return ErrVersionNotFound
	}
	return err
}

// maxShelf is how many bytes of source are kept ready. What was read takes a few times as much.
const maxShelf = 16 << 20

// shelf keeps versions that were read. They never change, so nothing on it is ever wrong.
type shelf struct {
	mu    sync.RWMutex
	ready map[VersionID]*Ready // guarded by mu
	bytes int                  // guarded by mu
}

func newShelf() *shelf { return &shelf{ready: map[VersionID]*Ready{}} }

func (s *shelf) get(id VersionID) *Ready {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.ready[id]
}

// put adds a version. A full shelf is emptied: what is in use comes back by itself.
func (s *shelf) put(id VersionID, r *Ready) {
	size := len(r.source.HTML) + len(r.source.Text) + len(r.source.Subject)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready[id] != nil {
		return // two have read it at the same time
	}
	if s.bytes += size; s.bytes > maxShelf {
		clear(s.ready)
		s.bytes = size
	}
	s.ready[id] = r
}
