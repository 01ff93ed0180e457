package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// tagRecord is a label of an email, by which statistics and webhooks tell it from others.
type tagRecord struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// tagsIn reads tags from the lines of a form, each like name = value. What is no such line is left for the API to refuse.
func tagsIn(text string) []tagRecord {
	tags := []tagRecord{}
	for line := range strings.Lines(text) {
		if name, value, _ := strings.Cut(line, "="); strings.TrimSpace(line) != "" {
			tags = append(tags, tagRecord{strings.TrimSpace(name), strings.TrimSpace(value)})
		}
	}
	return tags
}

func tagLines(tags []tagRecord) string {
	var lines []string
	for _, tag := range tags {
		lines = append(lines, tag.Name+" = "+tag.Value)
	}
	return strings.Join(lines, "\n")
}

// trackingRecord says whether opens and clicks are counted; nil leaves it to the domain.
type trackingRecord struct {
	Opens  *bool `json:"opens"`
	Clicks *bool `json:"clicks"`
}

func (t trackingRecord) said() bool { return t.Opens != nil || t.Clicks != nil }

// postedTracking is what a form says about counting.
func (v *visit) postedTracking() trackingRecord {
	wish := func(name string) *bool {
		chosen := v.value(name) == "on"
		if !chosen && v.value(name) != "off" {
			return nil
		}
		return &chosen
	}
	return trackingRecord{wish("track_opens"), wish("track_clicks")}
}

// trackingWord is a wish as a form has it.
func trackingWord(wish *bool) string {
	switch {
	case wish == nil:
		return ""
	case *wish:
		return "on"
	}
	return "off"
}

func trackingChoices(now string) []choice {
	return choices(now, "", "As the domain says", "on", "Count them", "off", "Do not count them")
}

// words says what was chosen, for people to read; empty if nothing was.
func (t trackingRecord) words() string {
	var parts []string
	for _, one := range []struct {
		name string
		wish *bool
	}{{"opens", t.Opens}, {"clicks", t.Clicks}} {
		if one.wish != nil && *one.wish {
			parts = append(parts, "counts "+one.name)
		} else if one.wish != nil {
			parts = append(parts, "does not count "+one.name)
		}
	}
	return words(strings.Join(parts, ", "))
}

// windowRecord is when mail may go out, by the clock of a place.
type windowRecord struct {
	Start    string `json:"start"`
	End      string `json:"end"`
	Timezone string `json:"timezone"`
	Days     []int  `json:"days"`
}

var dayNames = []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// postedWindow is the one that a form asks for; nil if it asks for none. The zone alone asks for nothing.
func (v *visit) postedWindow() *windowRecord {
	w := windowRecord{Start: strings.TrimSpace(v.value("window_start")), End: strings.TrimSpace(v.value("window_end")), Timezone: strings.TrimSpace(v.value("window_timezone")), Days: []int{}}
	for _, text := range v.form["window_days"] {
		if day, err := strconv.Atoi(text); err == nil && !slices.Contains(w.Days, day) {
			w.Days = append(w.Days, day)
		}
	}
	if w.Start+w.End == "" && len(w.Days) == 0 {
		return nil
	}
	slices.Sort(w.Days)
	return &w
}

// dayChoices are the days of the week, those of a window ticked.
func (w *windowRecord) dayChoices() []choice {
	var all []choice
	for i, name := range dayNames {
		all = append(all, choice{Value: strconv.Itoa(i + 1), Label: name, Chosen: w != nil && slices.Contains(w.Days, i+1)})
	}
	return all
}

// words says the window for people to read; empty if there is none.
func (w *windowRecord) words() string {
	if w == nil {
		return ""
	}
	text := w.Start + " to " + w.End + ", " + visible(w.Timezone)
	var days []string
	for _, day := range w.Days {
		if day >= 1 && day <= len(dayNames) {
			days = append(days, dayNames[day-1])
		}
	}
	if len(days) > 0 && len(days) < len(dayNames) {
		text += ", " + strings.Join(days, ", ")
	}
	return text
}

// valueMap are values of a template. Numbers keep their digits, however many they have.
type valueMap map[string]any

// UnmarshalJSON reads an object.
func (m *valueMap) UnmarshalJSON(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var read map[string]any
	err := decoder.Decode(&read)
	*m = read
	return err
}

// text is how a form shows the values; empty if there are none.
func (m valueMap) text() string {
	if len(m) == 0 {
		return ""
	}
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return "" // what was read can be written
	}
	return string(raw)
}

// objectIn reads an object from a field of a form; empty text is an empty one.
func objectIn(text, field string) (valueMap, *problem) {
	values := valueMap{}
	if strings.TrimSpace(text) == "" {
		return values, nil
	}
	if err := json.Unmarshal([]byte(text), &values); err != nil || values == nil {
		return nil, &problem{Status: http.StatusBadRequest, Code: "validation_error", Message: "The values could not be read.",
			Fields: map[string]string{field: "Must be an object in JSON, such as {\"FIRST_NAME\": \"Ada\"}."}}
	}
	return values, nil
}
