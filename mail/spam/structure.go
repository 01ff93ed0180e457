package spam

var (
	adviceTextPart = advice{"add_text_part", "Add a plain-text body."}
	adviceSameText = advice{"align_parts", "Say the same in the plain-text body as in the HTML."}
	adviceImages   = advice{"add_text", "Write the message as text; use pictures only to go with it."}
	adviceAlt      = advice{"add_alt_text", "Give every picture an alternative text, an empty one if it is only decoration."}
	adviceHost     = advice{"host_images", "Attach pictures or put them on a web server instead of writing them into the HTML."}
	adviceShorten  = advice{"shorten_html", "Keep the HTML below 100 KB: remove unused styles and link to the long version."}
	adviceActive   = advice{"remove_active_content", "Remove scripts, forms, frames and plug-ins; link to a web page that has them."}
	adviceRepair   = advice{"repair_html", "Close every element and keep the nesting of tables low."}
	adviceHidden   = advice{"remove_hidden_text", "Remove text that readers cannot see, except for a short preheader at the top."}
	adviceStraight = advice{"simplify_html", "Write words as plain text, without comments, empty tags or character references inside them."}
)

const (
	// gmailClips is where Gmail cuts a page off; the unsubscribe link at its end is gone with the rest.
	gmailClips = 102 << 10
	hugePage   = 1 << 20
	// deepNesting is twice what tables in tables in newsletters reach.
	deepNesting = 100
	brokenTags  = 3
	// hiddenLetters allows for a label or two for screen readers.
	hiddenLetters = 50
	stuffingBytes = 8 << 10
	// minimumToCompare is how many distinct words a text needs to be comparable; many are only a note and a link.
	minimumToCompare = 20
)

var structureRules = []rule{
	{
		id: "HTML_NO_TEXT_PART", severity: Info, score: 0.8,
		description: "There is no plain-text part.",
		advice:      adviceTextPart,
		when:        func(f *facts) bool { return f.HTML != "" && f.text.words == 0 },
	},
	{
		id: "PARTS_DIFFER", severity: Warning, score: 1.5,
		description: "The plain text and the HTML say different things.",
		advice:      adviceSameText,
		when:        func(f *facts) bool { return f.HTML != "" && differ(f.text.vocabulary, f.body.vocabulary) },
	},
	{
		id: "IMAGE_ONLY", severity: Critical, score: 2.2,
		description: "The message is a picture with hardly any text.",
		advice:      adviceImages,
		when:        func(f *facts) bool { return f.page.pictured() && f.body.words < 15 },
	},
	{
		id: "IMAGE_HEAVY", severity: Info, score: 0.8,
		description: "There is little text for so many pictures.",
		advice:      adviceImages,
		when: func(f *facts) bool {
			return f.page.images >= 3 && f.body.words >= 15 && f.body.words < 15*f.page.images
		},
	},
	{
		id: "IMAGE_NO_ALT", severity: Info, score: 0.3,
		description: "A picture has no alternative text.",
		advice:      adviceAlt,
		when:        func(f *facts) bool { return f.page.unnamed > 0 },
	},
	{
		id: "IMAGE_IN_HTML", severity: Info, score: 0.5,
		description: "A picture is written into the HTML, where several mail programs do not show it.",
		advice:      adviceHost,
		when:        func(f *facts) bool { return f.page.inlined > 0 },
	},
	{
		id: "HTML_CLIPPED", severity: Warning, score: 0.5,
		description: "The HTML is larger than 102 KB; Gmail cuts it off there.",
		advice:      adviceShorten,
		when:        func(f *facts) bool { return f.page.bytes > gmailClips },
	},
	{
		id: "HTML_HUGE", severity: Warning, score: 1.5,
		description: "The HTML is larger than 1 MB.",
		advice:      adviceShorten,
		when:        func(f *facts) bool { return f.page.bytes > hugePage },
	},
	{
		id: "HTML_SCRIPT", severity: Critical, score: 2.5,
		description: "The HTML has a script.",
		advice:      adviceActive,
		when:        func(f *facts) bool { return f.page.scripts > 0 },
	},
	{
		id: "HTML_EVENT_HANDLER", severity: Warning, score: 1.5,
		description: "An element runs a script when something happens to it.",
		advice:      adviceActive,
		when:        func(f *facts) bool { return f.page.handlers > 0 },
	},
	{
		id: "HTML_FORM", severity: Warning, score: 1.5,
		description: "The HTML has a form.",
		advice:      adviceActive,
		when:        func(f *facts) bool { return f.page.forms > 0 },
	},
	{
		id: "HTML_FRAME", severity: Critical, score: 2,
		description: "The HTML has a frame.",
		advice:      adviceActive,
		when:        func(f *facts) bool { return f.page.frames > 0 },
	},
	{
		id: "HTML_PLUGIN", severity: Critical, score: 2,
		description: "The HTML embeds an object that needs a plug-in.",
		advice:      adviceActive,
		when:        func(f *facts) bool { return f.page.objects > 0 },
	},
	{
		id: "HTML_REFRESH", severity: Critical, score: 2.5,
		description: "The HTML leads readers to another page by itself.",
		advice:      adviceActive,
		when:        func(f *facts) bool { return f.page.refreshes > 0 },
	},
	{
		id: "HTML_BASE", severity: Warning, score: 0.8,
		description: "A base element changes where links lead.",
		advice:      adviceActive,
		when:        func(f *facts) bool { return f.page.bases > 0 },
	},
	{
		id: "HTML_BROKEN", severity: Info, score: 0.5,
		description: "Several elements are not closed, or closed without having been opened.",
		advice:      adviceRepair,
		when:        func(f *facts) bool { return f.page.broken >= brokenTags },
	},
	{
		id: "HTML_DEEP", severity: Warning, score: 1,
		description: "Elements are nested deeper than mail programs take well.",
		advice:      adviceRepair,
		when:        func(f *facts) bool { return f.page.depth > deepNesting },
	},
	{
		id: "HIDDEN_TEXT", severity: Warning, score: 1.8,
		description: "The HTML has text that readers cannot see.",
		advice:      adviceHidden,
		when:        func(f *facts) bool { return f.page.hidden >= hiddenLetters },
	},
	{
		id: "HIDDEN_TEXT_MOST", severity: Critical, score: 1.8,
		description: "There is more hidden text than visible text.",
		advice:      adviceHidden,
		when:        func(f *facts) bool { return f.page.hidden >= hiddenLetters && f.page.hidden > f.page.letters },
	},
	{
		id: "TINY_TEXT", severity: Warning, score: 1.2,
		description: "The HTML has text that is too small to read.",
		advice:      adviceHidden,
		when:        func(f *facts) bool { return f.page.tiny >= hiddenLetters },
	},
	{
		id: "COMMENT_STUFFING", severity: Warning, score: 1,
		description: "Comments make up most of the HTML.",
		advice:      adviceStraight,
		when: func(f *facts) bool {
			return f.page.commentBytes > stuffingBytes && f.page.commentBytes > 2*f.page.letters
		},
	},
	{
		id: "SPLIT_WORDS", severity: Warning, score: 1.8,
		description: "Words are cut by comments or empty tags.",
		advice:      adviceStraight,
		when:        func(f *facts) bool { return f.page.splits >= 3 },
	},
	{
		id: "LETTERS_AS_REFERENCES", severity: Warning, score: 1.5,
		description: "Plain letters are written as character references.",
		advice:      adviceStraight,
		when:        func(f *facts) bool { return f.page.references >= 15 },
	},
}

// differ tells whether two texts of some length share hardly any words.
func differ(a, b map[string]struct{}) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < minimumToCompare {
		return false
	}
	shared := 0
	for word := range a {
		if _, both := b[word]; both {
			shared++
		}
	}
	return shared*4 < len(a)
}
