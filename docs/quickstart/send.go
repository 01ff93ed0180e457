//go:build ignore

package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	body := `{"from": "Acme <hello@acme.test>", "to": "ada@example.net", "subject": "Welcome", "html": "<p>Hello Ada</p>"}`
	request, err := http.NewRequest("POST", os.Getenv("POSTRIDER_URL")+"/v1/emails", strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("POSTRIDER_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	var email struct{ ID string }
	if err := json.NewDecoder(response.Body).Decode(&email); err != nil || response.StatusCode != http.StatusAccepted {
		log.Fatal(response.Status, err)
	}
	fmt.Println(email.ID)
}
