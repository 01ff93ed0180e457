package main

import (
	"os"
	"strings"

	"postrider/app/tracing"
)

// tracingConfig returns where traces go: to the collector of the flag, or of OpenTelemetry's own variables; nil if to none.
func tracingConfig(endpoint string) *tracing.Config {
	named := endpoint != "" || os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
	if !named || strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return nil
	}
	return &tracing.Config{Endpoint: endpoint, Service: "postrider", Version: buildVersion().Version}
}
