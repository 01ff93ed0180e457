package flow

// Described is a type of step or trigger as builders and forms want to know it.
type Described struct {
	Type   string         `json:"type" example:"delay"`
	Label  string         `json:"label" example:"Delay"`
	Ways   []Way          `json:"connections"`
	Schema map[string]any `json:"config_schema"`
}

type object = map[string]any

func shape(required []string, properties object) object {
	return object{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": properties, "required": required}
}

func text(about string) object { return object{"type": "string", "description": about} }

func oneOf(words ...string) object { return object{"type": "string", "enum": words} }

func anyObject(about string) object {
	return object{"type": "object", "description": about}
}

var (
	noneRequired = []string{}
	rulesSchema  = object{"type": "object", "description": "A tree of rules, as segments have it; event.<key> may be asked too.",
		"properties": object{"type": oneOf("rule", "and", "or", "not")}, "required": []string{"type"}}
)

// DescribeSteps returns all types of steps.
func DescribeSteps() []Described {
	list := []struct {
		kind   Type
		label  string
		schema object
	}{
		{Trigger, "Trigger", triggerSchema(nil, noneRequired)},
		{SendEmail, "Send email", shape(noneRequired, object{"template": object{"type": "object", "properties": object{"id": text("Id or alias."),
			"version": object{"type": "integer", "minimum": 1}, "variables": anyObject("Values, or variables as {\"var\":\"event.x\"}.")}, "required": []string{"id"}},
			"from": text("Sender; that of the template if absent."), "subject": text("Subject; that of the template if absent."), "html": text("Without a template."),
			"text": text("Without a template."), "reply_to": object{"type": []string{"string", "array"}}, "topic_id": text("Who opted out of the topic gets no mail.")})},
		{Delay, "Delay", shape([]string{"duration"}, object{"duration": text("1 minute to 365 days, such as 3 days.")})},
		{WaitForEvent, "Wait for event", shape([]string{"event_name", "timeout"}, object{"event_name": text("Name of the event."),
			"timeout": text("At most 90 days."), "filter_rule": rulesSchema})},
		{Condition, "Condition", rulesSchema},
		{ContactUpdate, "Update contact", shape(noneRequired, object{"first_name": object{}, "last_name": object{}, "unsubscribed": object{},
			"properties": anyObject("Values by key; null takes one away.")})},
		{ContactDelete, "Delete contact", shape(noneRequired, object{})},
		{AddToSegment, "Add to segment", shape([]string{"segment_id"}, object{"segment_id": text("Id of the segment.")})},
		{RemoveFromSegment, "Remove from segment", shape([]string{"segment_id"}, object{"segment_id": text("Id of the segment.")})},
		{AddToList, "Add to list", shape([]string{"list_id"}, object{"list_id": text("Id of the list.")})},
		{RemoveFromList, "Remove from list", shape([]string{"list_id"}, object{"list_id": text("Id of the list.")})},
		{SetTopic, "Set topic", shape([]string{"topic_id", "subscription"}, object{"topic_id": text("Id of the topic."), "subscription": oneOf("opt_in", "opt_out")})},
		{EmitEvent, "Emit event", shape([]string{"event_name"}, object{"event_name": text("Name of an event."), "payload": anyObject("What the event says.")})},
		{HTTPRequest, "HTTP request", shape([]string{"url"}, object{"method": oneOf("GET", "POST", "PUT", "PATCH", "DELETE"), "url": text("https, or relative to the base URL of the credential."),
			"credential_id": text("Id of a credential."), "headers": anyObject("No secrets."), "query": anyObject("Parameters."), "body": object{},
			"timeout_ms": object{"type": "integer", "minimum": 1000, "maximum": 15000}, "retry": object{"type": "integer", "minimum": 0, "maximum": maxRetry}})},
		{Split, "Split", shape([]string{"branches"}, object{"branches": object{"type": "array", "minItems": 2, "maxItems": maxBranches, "items": object{"type": "object",
			"properties": object{"key": object{"type": "string"}, "weight": object{"type": "integer", "minimum": 1, "maximum": maxWeight}}, "required": []string{"key", "weight"}}}})},
		{Exit, "Exit", shape(noneRequired, object{})},
	}
	described := make([]Described, len(list))
	for i, one := range list {
		described[i] = Described{Type: string(one.kind), Label: one.label, Ways: waysOf[one.kind], Schema: one.schema}
	}
	return described
}

func triggerSchema(more object, required []string) object {
	properties := object{"event_name": text("Name of an event."), "re_entry": oneOf(string(Once), string(AfterExit), string(Always)), "filter_rule": rulesSchema}
	for name, one := range more {
		properties[name] = one
	}
	return shape(append([]string{"event_name"}, required...), properties)
}

// DescribeTriggers returns everything that can begin a run.
func DescribeTriggers() []Described {
	described := []Described{{Type: "event", Label: "Event of your own", Ways: waysOf[Trigger], Schema: triggerSchema(nil, nil)}}
	for _, name := range SystemEvents {
		var more object
		var required []string
		switch name {
		case ListJoined:
			more, required = object{"list_id": text("Id of the list.")}, []string{"list_id"}
		case SegmentEntered, SegmentLeft:
			more, required = object{"segment_id": text("Id of the segment.")}, []string{"segment_id"}
		case Schedule:
			more, required = object{"cron": text("Minute, hour, day, month, day of the week."), "timezone": text("Such as Europe/Berlin; UTC if absent."),
				"segment_id": text("A run for each contact in it; one run without a contact if absent.")}, []string{"cron"}
		}
		described = append(described, Described{Type: name, Label: name[len(SystemPrefix):], Ways: waysOf[Trigger], Schema: triggerSchema(more, required)})
	}
	return described
}
