package web

import (
	"testing"

	"github.com/jba/templatecheck"
)

// drawn says which data every template is drawn from.
var drawn = map[string]any{
	"confirm": confirmPage{}, "problem": problemPage{}, "overview": overviewPage{},
	"signin/signin": signInPage{}, "signin/signup": signUpPage{}, "signin/forgot": forgotPage{}, "signin/reset": tokenPage{}, "signin/verify": tokenPage{},
	"home/nowhere": shell{}, "home/switch": switchPage{}, "home/join": joinPage{},
	"account/profile": accountPage{}, "account/security": securityPage{},
	"settings/general": settingsPage{}, "settings/members": membersPage{}, "settings/plan": planPage{}, "settings/audit": auditPage{}, "settings/connections": connectionsPage{},
	"manual/page": manualPage{}, "manual/reference": referencePage{},
	"domains/list": domainsPage{}, "domains/new": newDomainPage{}, "domains/detail": domainPage{},
	"keys/list": keysPage{}, "keys/new": newKeyPage{}, "keys/created": createdKeyPage{}, "keys/detail": keyPage{},
	"webhooks/list": webhooksPage{}, "webhooks/new": newWebhookPage{}, "webhooks/created": webhookSecretPage{}, "webhooks/detail": webhookPage{},
	"webhooks/deliveries": deliveriesPage{}, "webhooks/delivery": deliveryPage{},
	"logs/list": logsPage{}, "logs/detail": logPage{}, "quickstart/quickstart": quickStartPage{},
	"suppressions/list": suppressionsPage{}, "suppressions/new": newSuppressionPage{}, "people/person": personPage{}, "people/find": findPage{},
	"templates/list": templatesPage{}, "templates/new": newTemplatePage{}, "templates/detail": templatePage{}, "templates/edit": templateEditorPage{}, "templates/check": templateCheckPage{},
	"templates/version": templateVersionPage{}, "templates/publish": templateReviewPage{},
	"inbox/list": inboxPage{}, "inbox/message": receivedPage{}, "inbox/forwarding": forwardingPage{}, "inbox/rule": rulePage{},
	"sandbox/list": sandboxPage{}, "sandbox/message": sandboxMessagePage{},
	"customers/list": customersPage{}, "customers/new": newCustomerPage{}, "customers/detail": customerPage{},
	"audience/contacts": contactsPage{}, "audience/contact": contactPage{}, "audience/contactform": contactFormPage{}, "audience/forget": forgetPage{}, "audience/remove": removePage{},
	"audience/export": exportPage{}, "audience/import": importPage{}, "audience/map": mapPage{}, "audience/imports": importsPage{}, "audience/importjob": importJobPage{},
	"audience/lists": listsPage{}, "audience/list": listPage{}, "audience/listform": listFormPage{}, "audience/segments": segmentsPage{}, "audience/segment": segmentPage{},
	"audience/segmentform": segmentFormPage{}, "audience/topics": topicsPage{}, "audience/topic": topicPage{}, "audience/properties": propertiesPage{}, "audience/property": propertyPage{},
	"broadcasts/list": broadcastsPage{}, "broadcasts/edit": composePage{}, "broadcasts/review": reviewPage{}, "broadcasts/detail": broadcastPage{}, "broadcasts/recipients": recipientsPage{}, "broadcasts/message": messagePage{},
	"automations/list": automationsPage{}, "automations/new": newAutomationPage{}, "automations/build": builderPage{}, "automations/try": tryPage{}, "automations/runs": runsPage{},
	"automations/run": runPage{}, "automations/versions": versionsPage{}, "automations/version": versionPage{}, "automations/settings": automationSettingsPage{},
	"credentials/list": credentialsPage{}, "credentials/new": newCredentialPage{}, "credentials/detail": credentialPage{},
	"events/list": platformEventsPage{}, "events/new": newPlatformEventPage{}, "events/detail": platformEventPage{},
	"stats/overview": statisticsPage{}, "stats/deliverability": deliverabilityPage{}, "system/nodes": nodesPage{}, "system/queue": queuePage{},
	"emails/list": emailsPage{}, "emails/new": newEmailPage{}, "emails/check": spamCheckPage{}, "emails/detail": emailPage{},
}

func TestTemplatesUseOnlyWhatTheirPagesHave(t *testing.T) {
	t.Parallel()
	for name, parsed := range parseTemplates(loadAssets()) {
		page, ok := drawn[name]
		if !ok {
			t.Errorf("%s: name the data it is drawn from in this test", name)
			continue
		}
		if err := templatecheck.CheckHTML(parsed.Lookup("layout"), page); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
