package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// listOf is a page of a list that is followed by offset. Not every list knows how long it is.
type listOf[T any] struct {
	Data    []T    `json:"data"`
	HasMore bool   `json:"has_more"`
	Total   *int64 `json:"total"`
}

// beside returns the links to the pages beside the one that holds the list.
func beside[T any](v *visit, list listOf[T]) pager {
	offset, shown := int64(v.offset()), int64(len(list.Data))
	if list.Total != nil {
		return v.pager(len(list.Data), *list.Total)
	}
	p := v.pager(len(list.Data), offset+shown)
	if list.HasMore {
		p.Older = v.pager(len(list.Data), offset+shown+1).Older
	}
	p.Text = v.number(offset+1) + " to " + v.number(offset+shown)
	return p
}

const (
	// largestPage is the longest page that the API gives of any list.
	largestPage = 200
	// maxOffered is how many things of a kind a page offers to choose from. Nobody looks through more, and each page of them is a
	// request to the API.
	maxOffered = 5 * largestPage
)

// every reads a list page by page, up to a number of entries; 0 means all of them.
func every[T any](v *visit, path string, query url.Values, most int) ([]T, error) {
	asked := url.Values{"limit": {strconv.Itoa(largestPage)}}
	for name, values := range query {
		asked[name] = values
	}
	var all []T
	for most == 0 || len(all) < most {
		asked.Set("offset", strconv.Itoa(len(all)))
		var list listOf[T]
		if err := v.get(path, asked, &list); err != nil {
			return nil, err
		}
		all = append(all, list.Data...)
		if !list.HasMore || len(list.Data) == 0 {
			break
		}
	}
	return all, nil
}

// keeping adds values to the choices that are chosen and not among them: what a form does not show would be lost when it is saved.
func keeping(all []choice, chosen ...string) []choice {
	for _, value := range chosen {
		if value != "" && !slices.ContainsFunc(all, func(c choice) bool { return c.Value == value }) {
			all = append(all, choice{Value: value, Label: visible(value), Chosen: true})
		}
	}
	return all
}

// rechosen are the choices with another one chosen.
func rechosen(all []choice, now string) []choice {
	for i := range all {
		all[i].Chosen = all[i].Value == now
	}
	return all
}

// keepingNamed is keeping for things whose names the API tells one by one.
func (v *visit) keepingNamed(all []choice, kind string, chosen []string) ([]choice, error) {
	known := len(all)
	all = keeping(all, chosen...)
	for i := known; i < len(all); i++ {
		var one struct{ Domain, Name string }
		err := v.get(apiPath(kind, all[i].Value), nil, &one)
		if p, ok := err.(*problem); err != nil && (!ok || p.Status != http.StatusNotFound) {
			return nil, err
		}
		all[i].Label = visible(cmp.Or(one.Domain, one.Name, all[i].Value))
	}
	return all, nil
}

// add puts the values that are not empty into a query.
func add(query url.Values, values map[string]string) url.Values {
	for name, value := range values {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// choice is one entry of a select, a radio group or a list of boxes.
type choice struct {
	Value, Label, Hint string
	Chosen             bool
}

// choices are the entries of a select, as pairs of value and label; the one of the value is chosen.
func choices(now string, pairs ...string) []choice {
	var all []choice
	for i := 0; i+1 < len(pairs); i += 2 {
		all = append(all, choice{Value: pairs[i], Label: pairs[i+1], Chosen: pairs[i] == now})
	}
	return all
}

// spans are the times that lists are filtered by; see sinceOf.
func spans(now string) []choice {
	return choices(now, "", "Any time", "hour", "Last hour", "day", "Last 24 hours", "week", "Last 7 days", "month", "Last 30 days")
}

// chooser is a select with its label.
type chooser struct {
	Name, Label, Hint, Error string
	Choices                  []choice
}

func newChooser(name, label, hint, wrong string, all []choice) chooser {
	return chooser{name, label, hint, wrong, all}
}

// box is a check box with its label.
type box struct {
	Name string
	choice
}

func newBox(name, value, label, hint string, chosen bool) box {
	return box{name, choice{value, label, hint, chosen}}
}

// sendNamed sends a form about something that has a name. A change that brings an empty one leaves the name as it is; whoever emptied the
// input would be told that this was saved.
func (v *visit) sendNamed(method, path string, body map[string]any, out any) error {
	if name, _ := body["name"].(string); strings.TrimSpace(name) == "" {
		return &problem{Status: http.StatusBadRequest, Code: "validation_error", Message: "A name is required.", Fields: map[string]string{"name": "Give it a name."}}
	}
	return v.send(method, path, body, out)
}

// refusal returns why the API refused what was posted, if that belongs beside the form: nil if the action succeeded, if a page of
// its own answers better, or if the person has to prove who they are first.
func refusal(err error) *problem {
	p, ok := err.(*problem)
	if !ok || p.Status == http.StatusUnauthorized || p.Status == http.StatusNotFound || isRefused(err, "two_factor_required", "reauthentication_required") {
		return nil
	}
	return p
}
