package inbound

import (
	"cmp"
	"maps"
	"slices"

	"postrider/platform/db"
)

// maxAncestors is how many of the message ids that a message names are looked for: the nearest know the thread.
const maxAncestors = 20

// findThread finds what a message answers: an email of ours, or a message that came before.
func (s *Service) findThread(tx *db.Tx, m *Message) error {
	ids := ancestorsOf(*m)
	if len(ids) == 0 {
		return nil
	}
	emails, err := s.emails.ByMessageIDs(tx, m.Workspace, ids)
	if err != nil {
		return err
	}
	threads, err := selectThread(tx, m.Workspace, ids)
	if err != nil {
		return err
	}
	answers, err := selectAnswerThreads(tx, m.Workspace, slices.Collect(maps.Values(emails)))
	if err != nil {
		return err
	}
	thread := ""
	for _, id := range ids {
		sent := emails[id]
		m.AnswersEmail = cmp.Or(m.AnswersEmail, sent)
		thread = cmp.Or(thread, threads[id], answers[sent])
	}
	// An email that answers nothing begins a thread itself.
	m.Thread = cmp.Or(thread, string(m.AnswersEmail), m.Thread)
	return nil
}

// ancestorsOf lists what a message answers, the nearest first.
func ancestorsOf(m Message) []string {
	ids := make([]string, 0, maxAncestors)
	add := func(id string) {
		if id != "" && id != m.MessageID && len(ids) < maxAncestors && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	add(m.Ancestors.InReplyTo)
	for _, id := range slices.Backward(m.Ancestors.References) {
		add(id)
	}
	return ids
}
