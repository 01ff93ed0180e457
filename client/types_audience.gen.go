// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// AudienceAskSkipped is part of AudienceAskedManyRecord.
type AudienceAskSkipped struct {
	AlreadyConfirmed int64 `json:"already_confirmed,omitzero"`
	RecentlySent     int64 `json:"recently_sent,omitzero"`
	Suppressed       int64 `json:"suppressed,omitzero"`
	Unsubscribed     int64 `json:"unsubscribed,omitzero"`
}

// AudienceAskedManyRecord is the answer to POST /v1/audience/lists/{id}/send-confirmations.
type AudienceAskedManyRecord struct {
	ListID  string             `json:"list_id,omitzero"`
	Object  string             `json:"object,omitzero"`
	Queued  int64              `json:"queued,omitzero"`
	Skipped AudienceAskSkipped `json:"skipped,omitzero"`
}

// AudienceAskedRecord is the answer to POST /v1/audience/contacts/{id}/send-confirmation.
type AudienceAskedRecord struct {
	ContactID string    `json:"contact_id,omitzero"`
	EmailID   string    `json:"email_id,omitzero"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	ListID    string    `json:"list_id,omitzero"`
	Object    string    `json:"object,omitzero"`
}

// AudienceColumnMap is part of AudienceImportBody.
type AudienceColumnMap struct {
	Email        string                            `json:"email,omitzero"`
	FirstName    string                            `json:"first_name,omitzero"`
	LastName     string                            `json:"last_name,omitzero"`
	Properties   map[string]AudiencePropertyColumn `json:"properties,omitzero"`
	Unsubscribed string                            `json:"unsubscribed,omitzero"`
}

// AudienceConfirmResult is the answer to GET /v1/audience/confirm/{token}.
type AudienceConfirmResult struct {
	ContactID string `json:"contact_id,omitzero"`
	ListID    string `json:"list_id,omitzero"`
	Object    string `json:"object,omitzero"`
	// confirmed, or pending for a link that was only looked at.
	Status string `json:"status,omitzero"`
}

// AudienceConfirmationBody is part of AudienceListBody.
type AudienceConfirmationBody struct {
	// Sender, at a verified domain.
	From string `json:"from,omitzero"`
	// Where people go once they have confirmed.
	RedirectURL string `json:"redirect_url,omitzero"`
	Subject     string `json:"subject,omitzero"`
	// A template that has the variable CONFIRMATION_URL.
	TemplateID string `json:"template_id,omitzero"`
}

// AudienceConfirmationRecord is part of AudienceListRecord.
type AudienceConfirmationRecord struct {
	From        string `json:"from,omitzero"`
	RedirectURL string `json:"redirect_url,omitzero"`
	Subject     string `json:"subject,omitzero"`
	TemplateID  string `json:"template_id,omitzero"`
}

// AudienceConsentBody is part of AudienceContactBody.
type AudienceConsentBody struct {
	// When; now if absent.
	At time.Time `json:"at,omitzero"`
	IP string    `json:"ip,omitzero"`
	// Where: a form, a shop, a fair.
	Source    string `json:"source,omitzero"`
	UserAgent string `json:"user_agent,omitzero"`
}

// AudienceConsentRecord is part of AudienceContactRecord.
type AudienceConsentRecord struct {
	At        time.Time `json:"at,omitzero"`
	IP        string    `json:"ip,omitzero"`
	Source    string    `json:"source,omitzero"`
	UserAgent string    `json:"user_agent,omitzero"`
}

// AudienceContactBody is the body of POST /v1/audience/contacts.
type AudienceContactBody struct {
	// The same as list_id.
	AudienceID string `json:"audience_id,omitzero"`
	// How the person agreed.
	Consent   *AudienceConsentBody `json:"consent,omitempty"`
	Email     string               `json:"email,omitzero"`
	FirstName *string              `json:"first_name,omitempty"`
	LastName  *string              `json:"last_name,omitempty"`
	// A list to join.
	ListID string `json:"list_id,omitzero"`
	// Lists to join.
	ListIDs []string `json:"list_ids,omitzero"`
	// update (the default), skip or error: what to do about a contact that is there already.
	OnConflict string `json:"on_conflict,omitzero"`
	// By the key of a property that is defined; null takes a value away.
	Properties map[string]any `json:"properties,omitzero"`
	// Bring back somebody who left: say so only if they asked for it.
	Resubscribe bool `json:"resubscribe,omitzero"`
	// Segments to be put into by hand: ids, or objects with an id.
	Segments []any `json:"segments,omitzero"`
	// What the contact says about topics. opt_in never brings back somebody who left the topic by a link.
	Topics []AudienceTopicWish `json:"topics,omitzero"`
	// true stops all mail but what people ask for. false never brings back somebody who left by themselves.
	Unsubscribed *bool `json:"unsubscribed,omitempty"`
}

// AudienceContactRecord is the answer to GET /v1/audience/contacts.
type AudienceContactRecord struct {
	Consent           *AudienceConsentRecord     `json:"consent,omitempty"`
	CreatedAt         time.Time                  `json:"created_at,omitzero"`
	Email             string                     `json:"email,omitzero"`
	FirstName         string                     `json:"first_name,omitzero"`
	ID                string                     `json:"id,omitzero"`
	LastClickedAt     time.Time                  `json:"last_clicked_at,omitzero"`
	LastEmailedAt     time.Time                  `json:"last_emailed_at,omitzero"`
	LastName          string                     `json:"last_name,omitzero"`
	LastOpenedAt      time.Time                  `json:"last_opened_at,omitzero"`
	Lists             []AudienceMembershipRecord `json:"lists,omitzero"`
	Object            string                     `json:"object,omitzero"`
	Properties        map[string]any             `json:"properties,omitzero"`
	SegmentIDs        []string                   `json:"segment_ids,omitzero"`
	Status            string                     `json:"status,omitzero"`
	Suppressed        bool                       `json:"suppressed,omitzero"`
	SuppressionReason string                     `json:"suppression_reason,omitzero"`
	Topics            []AudienceTopicState       `json:"topics,omitzero"`
	Unsubscribed      bool                       `json:"unsubscribed,omitzero"`
	UpdatedAt         time.Time                  `json:"updated_at,omitzero"`
}

// AudienceContactSegment is the answer to DELETE /v1/contacts/{id}/segments/{segmentId}.
type AudienceContactSegment struct {
	ContactID string `json:"contact_id,omitzero"`
	Deleted   bool   `json:"deleted,omitzero"`
	ID        string `json:"id,omitzero"`
	Object    string `json:"object,omitzero"`
	SegmentID string `json:"segment_id,omitzero"`
}

// AudienceContactTopic is the answer to GET /v1/contacts/{id}/topics.
type AudienceContactTopic struct {
	Description string `json:"description,omitzero"`
	// false means that the contact said nothing, and the default holds.
	Explicit     bool   `json:"explicit,omitzero"`
	ID           string `json:"id,omitzero"`
	Name         string `json:"name,omitzero"`
	Subscription string `json:"subscription,omitzero"`
}

// AudienceContactTopics is the answer to PATCH /v1/contacts/{id}/topics.
type AudienceContactTopics struct {
	ContactID string                 `json:"contact_id,omitzero"`
	ID        string                 `json:"id,omitzero"`
	Object    string                 `json:"object,omitzero"`
	Topics    []AudienceContactTopic `json:"topics,omitzero"`
}

// AudienceDeletedContact is the answer to DELETE /v1/audience/contacts/{id}.
type AudienceDeletedContact struct {
	Contact string `json:"contact,omitzero"`
	Deleted bool   `json:"deleted,omitzero"`
	ID      string `json:"id,omitzero"`
	Object  string `json:"object,omitzero"`
}

// AudienceErasureRecord is the answer to POST /v1/audience/contacts/{id}/erase.
type AudienceErasureRecord struct {
	ContactID string    `json:"contact_id,omitzero"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	ID        string    `json:"id,omitzero"`
	Object    string    `json:"object,omitzero"`
	Status    string    `json:"status,omitzero"`
}

// AudienceImportBody is the body of POST /v1/audience/contacts/import.
type AudienceImportBody struct {
	// Which column of a file holds what, by the names in its header. Without it, names are recognised.
	ColumnMap AudienceColumnMap `json:"column_map,omitzero"`
	// At most 10000 contacts, as they are added one by one.
	Contacts []any `json:"contacts,omitzero"`
	// In a form: the file, at most 50 MB of comma-separated values.
	File string `json:"file,omitzero"`
	// A list that all join.
	ListID string `json:"list_id,omitzero"`
	// upsert (the default) or skip.
	OnConflict string `json:"on_conflict,omitzero"`
	// Segments that all are put into.
	Segments []any `json:"segments,omitzero"`
	// Ask people who join a list with double opt-in by it to confirm.
	SendConfirmations bool `json:"send_confirmations,omitzero"`
	// What all say about topics.
	Topics []AudienceTopicWish `json:"topics,omitzero"`
}

// AudienceImportCounts is part of AudienceImportRecord.
type AudienceImportCounts struct {
	Created int64 `json:"created,omitzero"`
	Failed  int64 `json:"failed,omitzero"`
	Skipped int64 `json:"skipped,omitzero"`
	Total   int64 `json:"total,omitzero"`
	Updated int64 `json:"updated,omitzero"`
}

// AudienceImportError is part of AudienceImportRecord.
type AudienceImportError struct {
	Email   string `json:"email,omitzero"`
	Message string `json:"message,omitzero"`
	Row     int64  `json:"row,omitzero"`
}

// AudienceImportRecord is the answer to POST /v1/audience/contacts/import.
type AudienceImportRecord struct {
	CompletedAt time.Time            `json:"completed_at,omitzero"`
	Counts      AudienceImportCounts `json:"counts,omitzero"`
	CreatedAt   time.Time            `json:"created_at,omitzero"`
	// The first 100.
	Errors []AudienceImportError `json:"errors,omitzero"`
	// A file of all that failed; the link is good for an hour.
	ErrorsURL string `json:"errors_url,omitzero"`
	// Why the import could not go on.
	Failure   string    `json:"failure,omitzero"`
	Filename  string    `json:"filename,omitzero"`
	ID        string    `json:"id,omitzero"`
	ListID    string    `json:"list_id,omitzero"`
	Object    string    `json:"object,omitzero"`
	Source    string    `json:"source,omitzero"`
	StartedAt time.Time `json:"started_at,omitzero"`
	Status    string    `json:"status,omitzero"`
}

// AudienceJoinedSegment is the answer to POST /v1/contacts/{id}/segments/{segmentId}.
type AudienceJoinedSegment struct {
	ContactID string `json:"contact_id,omitzero"`
	ID        string `json:"id,omitzero"`
	Object    string `json:"object,omitzero"`
	SegmentID string `json:"segment_id,omitzero"`
}

// AudienceListBody is the body of POST /v1/audience/lists.
type AudienceListBody struct {
	// How people are asked to confirm.
	Confirmation *AudienceConfirmationBody `json:"confirmation,omitempty"`
	Description  *string                   `json:"description,omitempty"`
	// People are on the list only once they have confirmed it.
	DoubleOptIn *bool `json:"double_opt_in,omitempty"`
	// 1 to 120 characters, unique in the workspace.
	Name string `json:"name,omitzero"`
}

// AudienceListRecord is the answer to GET /v1/audience/lists.
type AudienceListRecord struct {
	Confirmation      AudienceConfirmationRecord `json:"confirmation,omitzero"`
	ContactCount      int64                      `json:"contact_count,omitzero"`
	CreatedAt         time.Time                  `json:"created_at,omitzero"`
	Description       string                     `json:"description,omitzero"`
	DoubleOptIn       bool                       `json:"double_opt_in,omitzero"`
	ID                string                     `json:"id,omitzero"`
	Name              string                     `json:"name,omitzero"`
	Object            string                     `json:"object,omitzero"`
	PendingCount      int64                      `json:"pending_count,omitzero"`
	SubscribedCount   int64                      `json:"subscribed_count,omitzero"`
	UnsubscribedCount int64                      `json:"unsubscribed_count,omitzero"`
	UpdatedAt         time.Time                  `json:"updated_at,omitzero"`
}

// AudienceMembershipRecord is part of AudienceContactRecord.
type AudienceMembershipRecord struct {
	ConfirmedAt  time.Time              `json:"confirmed_at,omitzero"`
	Consent      *AudienceConsentRecord `json:"consent,omitempty"`
	ID           string                 `json:"id,omitzero"`
	Name         string                 `json:"name,omitzero"`
	Status       string                 `json:"status,omitzero"`
	SubscribedAt time.Time              `json:"subscribed_at,omitzero"`
}

// AudiencePropertyBody is the body of POST /v1/contact-properties.
type AudiencePropertyBody struct {
	// Stands in for a missing value in mails.
	FallbackValue any `json:"fallback_value,omitempty"`
	// Lower-case letters, digits and underscores. It never changes.
	Key string `json:"key,omitzero"`
	// A name for people.
	Label *string `json:"label,omitempty"`
	// string, number, boolean or date. It never changes.
	Type string `json:"type,omitzero"`
}

// AudiencePropertyColumn is part of AudienceColumnMap.
type AudiencePropertyColumn struct {
	Column string `json:"column,omitzero"`
}

// AudiencePropertyRecord is the answer to GET /v1/contact-properties.
type AudiencePropertyRecord struct {
	CreatedAt     time.Time `json:"created_at,omitzero"`
	FallbackValue any       `json:"fallback_value,omitempty"`
	ID            string    `json:"id,omitzero"`
	Key           string    `json:"key,omitzero"`
	Label         string    `json:"label,omitzero"`
	Object        string    `json:"object,omitzero"`
	Type          string    `json:"type,omitzero"`
	UpdatedAt     time.Time `json:"updated_at,omitzero"`
}

// AudienceSegmentBody is the body of POST /v1/segments.
type AudienceSegmentBody struct {
	Description *string `json:"description,omitempty"`
	// A tree of rules; without one, contacts are put in by hand.
	Filter any `json:"filter,omitempty"`
	// 1 to 120 characters, unique in the workspace.
	Name string `json:"name,omitzero"`
	// hybrid lets a segment with a filter also have contacts that were put in by hand.
	Type string `json:"type,omitzero"`
}

// AudienceSegmentContacts is the answer to POST /v1/segments/{id}/contacts.
type AudienceSegmentContacts struct {
	Added     int64    `json:"added,omitzero"`
	Already   int64    `json:"already,omitzero"`
	NotFound  []string `json:"not_found,omitzero"`
	Object    string   `json:"object,omitzero"`
	SegmentID string   `json:"segment_id,omitzero"`
}

// AudienceSegmentRecord is the answer to GET /v1/contacts/{id}/segments.
type AudienceSegmentRecord struct {
	ContactCount int64     `json:"contact_count,omitzero"`
	CountedAt    time.Time `json:"counted_at,omitzero"`
	CreatedAt    time.Time `json:"created_at,omitzero"`
	Description  string    `json:"description,omitzero"`
	Filter       any       `json:"filter,omitempty"`
	ID           string    `json:"id,omitzero"`
	Name         string    `json:"name,omitzero"`
	Object       string    `json:"object,omitzero"`
	Type         string    `json:"type,omitzero"`
	UpdatedAt    time.Time `json:"updated_at,omitzero"`
}

// AudienceTopicBody is the body of POST /v1/topics.
type AudienceTopicBody struct {
	// opt_in or opt_out: what holds for contacts that have said nothing. It never changes.
	DefaultSubscription string `json:"default_subscription,omitzero"`
	// At most 200 characters.
	Description *string `json:"description,omitempty"`
	// 1 to 50 characters, unique in the workspace.
	Name string `json:"name,omitzero"`
	// public topics are shown to people who change what they get.
	Visibility string `json:"visibility,omitzero"`
}

// AudienceTopicRecord is the answer to GET /v1/topics.
type AudienceTopicRecord struct {
	CreatedAt           time.Time `json:"created_at,omitzero"`
	DefaultSubscription string    `json:"default_subscription,omitzero"`
	Description         string    `json:"description,omitzero"`
	ID                  string    `json:"id,omitzero"`
	Name                string    `json:"name,omitzero"`
	Object              string    `json:"object,omitzero"`
	// Contacts that get mail about it, if they get any.
	SubscriberCount int64     `json:"subscriber_count,omitzero"`
	UpdatedAt       time.Time `json:"updated_at,omitzero"`
	Visibility      string    `json:"visibility,omitzero"`
}

// AudienceTopicState is part of AudienceContactRecord.
type AudienceTopicState struct {
	ID           string `json:"id,omitzero"`
	Name         string `json:"name,omitzero"`
	Subscription string `json:"subscription,omitzero"`
}

// AudienceTopicWish is part of AudienceContactBody.
type AudienceTopicWish struct {
	ID           string `json:"id,omitzero"`
	Subscription string `json:"subscription,omitzero"`
}

// AudienceTopicWishes is the body of PATCH /v1/contacts/{id}/topics.
type AudienceTopicWishes struct {
	Topics []AudienceTopicWish `json:"topics,omitzero"`
}

// AudienceUnsaid is the answer to DELETE /v1/contacts/{id}/topics/{topicId}.
type AudienceUnsaid struct {
	ContactID    string `json:"contact_id,omitzero"`
	Deleted      bool   `json:"deleted,omitzero"`
	ID           string `json:"id,omitzero"`
	Object       string `json:"object,omitzero"`
	Subscription string `json:"subscription,omitzero"`
}

// AudienceUpsertRecord is the answer to POST /v1/audience/contacts.
type AudienceUpsertRecord struct {
	Consent           *AudienceConsentRecord     `json:"consent,omitempty"`
	Created           bool                       `json:"created,omitzero"`
	CreatedAt         time.Time                  `json:"created_at,omitzero"`
	Email             string                     `json:"email,omitzero"`
	FirstName         string                     `json:"first_name,omitzero"`
	ID                string                     `json:"id,omitzero"`
	LastClickedAt     time.Time                  `json:"last_clicked_at,omitzero"`
	LastEmailedAt     time.Time                  `json:"last_emailed_at,omitzero"`
	LastName          string                     `json:"last_name,omitzero"`
	LastOpenedAt      time.Time                  `json:"last_opened_at,omitzero"`
	Lists             []AudienceMembershipRecord `json:"lists,omitzero"`
	Object            string                     `json:"object,omitzero"`
	Properties        map[string]any             `json:"properties,omitzero"`
	SegmentIDs        []string                   `json:"segment_ids,omitzero"`
	Status            string                     `json:"status,omitzero"`
	Suppressed        bool                       `json:"suppressed,omitzero"`
	SuppressionReason string                     `json:"suppression_reason,omitzero"`
	Topics            []AudienceTopicState       `json:"topics,omitzero"`
	Unsubscribed      bool                       `json:"unsubscribed,omitzero"`
	UpdatedAt         time.Time                  `json:"updated_at,omitzero"`
}

// AudienceValueRecord is the answer to GET /v1/contacts/{id}/properties.
type AudienceValueRecord struct {
	// The value, or what stands in for it.
	EffectiveValue any       `json:"effective_value,omitempty"`
	Key            string    `json:"key,omitzero"`
	Object         string    `json:"object,omitzero"`
	PropertyID     string    `json:"property_id,omitzero"`
	Type           string    `json:"type,omitzero"`
	UpdatedAt      time.Time `json:"updated_at,omitzero"`
	Value          any       `json:"value,omitempty"`
}
