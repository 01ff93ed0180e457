package audience

import (
	"net/http"
	"strings"

	"postrider/platform/api"
)

// Scopes of the endpoints.
const (
	read   api.Scope = "audience:read"
	manage api.Scope = "audience:manage"
)

// Routes returns the endpoints of audiences. Those below /contacts and /audiences are the same under the names that older programs
// know them by.
func (s *Service) Routes() []api.Route {
	var all []api.Route
	for _, routes := range [][]api.Route{s.listRoutes(), s.contactRoutes("/audience/contacts"), s.contactRoutes("/contacts"), s.importRoutes(), s.segmentRoutes(),
		s.contactSegmentRoutes(), s.topicRoutes(), s.contactTopicRoutes(), s.propertyRoutes(), s.confirmationRoutes(), s.audienceRoutes(), s.dataRoutes()} {
		all = append(all, routes...)
	}
	return all
}

// get, change and drop fill in what routes of a kind have in common.
func get(path, summary string, handler api.Handler) api.Route {
	return api.Route{Method: http.MethodGet, Path: path, Scope: read, Bucket: api.BucketRead, Summary: summary, Handler: handler, Errors: ifNamed(path)}
}

func change(method, path, summary string, handler api.Handler, failures ...*api.Error) api.Route {
	return api.Route{Method: method, Path: path, Scope: manage, Bucket: api.BucketWrite, Summary: summary, Handler: handler, Errors: append(ifNamed(path), failures...)}
}

func create(path, summary string, handler api.Handler, failures ...*api.Error) api.Route {
	r := change(http.MethodPost, path, summary, handler, failures...)
	r.Success = http.StatusCreated
	return r
}

// accepted is for work that goes on after the answer.
func accepted(r api.Route) api.Route {
	r.Success = http.StatusAccepted
	return r
}

// ifNamed is that something named in the path may be missing.
func ifNamed(path string) []*api.Error {
	if strings.Contains(path, "{") {
		return []*api.Error{api.ErrNotFound}
	}
	return nil
}

func (s *Service) listRoutes() []api.Route {
	return []api.Route{
		get("/audience/lists", "List audiences, newest first.", api.Handle(s.handleLists)),
		create("/audience/lists", "Create an audience.", api.Handle(s.handleCreateList), api.ErrAlreadyExists),
		get("/audience/lists/{id}", "Get an audience.", api.Handle(s.handleGetList)),
		change(http.MethodPatch, "/audience/lists/{id}", "Change an audience.", api.Handle(s.handleUpdateList), api.ErrAlreadyExists),
		change(http.MethodDelete, "/audience/lists/{id}", "Delete an audience and its memberships, but no contact.", api.Handle(s.handleDeleteList), ErrInUse),
	}
}

func (s *Service) contactRoutes(base string) []api.Route {
	return []api.Route{
		get(base, "List contacts, newest first.", api.Handle(s.handleContacts)),
		create(base, "Add a contact, or change the one that is there. Never brings back somebody who left.", api.Handle(s.handleUpsert), ErrQuota, api.ErrAlreadyExists),
		get(base+"/{id}", "Get a contact by its id or its address.", api.Handle(s.handleGetContact)),
		change(http.MethodPatch, base+"/{id}", "Change a contact.", api.Handle(s.handlePatch), api.ErrAlreadyExists),
		change(http.MethodDelete, base+"/{id}", "Delete a contact. What the suppression list says of the address stays.", api.Handle(s.handleDeleteContact)),
	}
}

func (s *Service) segmentRoutes() []api.Route {
	return []api.Route{
		get("/segments", "List segments, newest first.", api.Handle(s.handleSegments)),
		create("/segments", "Create a segment, from a filter or to be filled by hand.", api.Handle(s.handleCreateSegment), api.ErrAlreadyExists),
		get("/segments/{id}", "Get a segment, counted.", api.Handle(s.handleGetSegment)),
		change(http.MethodPatch, "/segments/{id}", "Change a segment.", api.Handle(s.handleUpdateSegment), api.ErrAlreadyExists),
		change(http.MethodDelete, "/segments/{id}", "Delete a segment, but no contact.", api.Handle(s.handleDeleteSegment), ErrInUse),
		get("/segments/{id}/contacts", "List the contacts in a segment, newest first.", api.Handle(s.handleSegmentContacts)),
		change(http.MethodPost, "/segments/{id}/contacts", "Put contacts into a segment by hand.", api.Handle(s.handlePutIn)),
		change(http.MethodDelete, "/segments/{id}/contacts/{contactId}", "Take a contact out of a segment, for good.", api.Handle(s.handleTakeOut)),
	}
}

func (s *Service) contactSegmentRoutes() []api.Route {
	return []api.Route{
		get("/contacts/{id}/segments", "List the segments that a contact is in.", api.Handle(s.handleSegmentsOf)),
		change(http.MethodPost, "/contacts/{id}/segments/{segmentId}", "Put a contact into a segment by hand.", api.Handle(s.handleJoinSegment)),
		change(http.MethodDelete, "/contacts/{id}/segments/{segmentId}", "Take a contact out of a segment, for good.", api.Handle(s.handleLeaveSegment)),
	}
}

func (s *Service) topicRoutes() []api.Route {
	return []api.Route{
		get("/topics", "List topics, newest first.", api.Handle(s.handleTopics)),
		create("/topics", "Create a topic.", api.Handle(s.handleCreateTopic), api.ErrAlreadyExists),
		get("/topics/{id}", "Get a topic.", api.Handle(s.handleGetTopic)),
		change(http.MethodPatch, "/topics/{id}", "Change a topic.", api.Handle(s.handleUpdateTopic), api.ErrAlreadyExists),
		change(http.MethodDelete, "/topics/{id}", "Delete a topic and what was said about it.", api.Handle(s.handleDeleteTopic), ErrInUse),
	}
}

func (s *Service) contactTopicRoutes() []api.Route {
	return []api.Route{
		get("/contacts/{id}/topics", "List every topic with what holds for a contact.", api.Handle(s.handleTopicsOf)),
		change(http.MethodPost, "/contacts/{id}/topics", "Subscribe a contact to a topic.", api.Handle(s.handleSay)),
		change(http.MethodPatch, "/contacts/{id}/topics", "Change what a contact says about topics.", api.Handle(s.handleSayMany)),
		change(http.MethodDelete, "/contacts/{id}/topics/{topicId}", "Unsubscribe a contact from a topic.", api.Handle(s.handleUnsay)),
	}
}

func (s *Service) propertyRoutes() []api.Route {
	return []api.Route{
		get("/contact-properties", "List the properties that contacts can have, newest first.", api.Handle(s.handleProperties)),
		create("/contact-properties", "Define a property.", api.Handle(s.handleCreateProperty), api.ErrAlreadyExists),
		get("/contact-properties/{id}", "Get a property.", api.Handle(s.handleGetProperty)),
		change(http.MethodPatch, "/contact-properties/{id}", "Change the fallback or the label of a property.", api.Handle(s.handleUpdateProperty)),
		change(http.MethodDelete, "/contact-properties/{id}", "Delete a property and all its values.", api.Handle(s.handleDeleteProperty), ErrInUse),
		get("/contacts/{id}/properties", "List every property with the value of a contact.", api.Handle(s.handleValues)),
		change(http.MethodPut, "/contacts/{id}/properties/{propertyId}", "Set the value of a property of a contact.", api.Handle(s.handleSetValue)),
	}
}

// audienceRoutes are those of programs that know lists and segments as audiences.
func (s *Service) audienceRoutes() []api.Route {
	return []api.Route{
		get("/audiences", "List audiences, newest first.", api.Handle(s.handleLists)),
		create("/audiences", "Create an audience.", api.Handle(s.handleCreateList), api.ErrAlreadyExists),
		get("/audiences/{id}", "Get an audience, which may be a segment.", api.Handle(s.handleGetAudience)),
		change(http.MethodDelete, "/audiences/{id}", "Delete an audience, which may be a segment.", api.Handle(s.handleDeleteAudience), ErrInUse),
		get("/audiences/{id}/contacts", "List the contacts of an audience.", api.Handle(s.handleAudienceContacts)),
		create("/audiences/{id}/contacts", "Add a contact to an audience.", api.Handle(s.handleAudienceUpsert), ErrQuota),
		get("/audiences/{id}/contacts/{contactId}", "Get a contact of an audience.", api.Handle(s.handleAudienceContact)),
		change(http.MethodPatch, "/audiences/{id}/contacts/{contactId}", "Change a contact of an audience.", api.Handle(s.handleAudiencePatch), api.ErrAlreadyExists),
		change(http.MethodDelete, "/audiences/{id}/contacts/{contactId}", "Delete a contact.", api.Handle(s.handleAudienceDelete)),
	}
}
