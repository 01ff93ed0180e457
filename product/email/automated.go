package email

// SourceAutomation is mail that a run of an automation sends.
const SourceAutomation Source = "automation"
