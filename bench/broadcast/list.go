package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"time"

	"postrider/bench/measure"
)

// client talks to the program under measurement.
type client struct {
	ctx       context.Context
	base, key string
}

func (c client) call(method, path string, body map[string]any) (map[string]any, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return c.send(method, path, "application/json", bytes.NewReader(raw))
}

func (c client) send(method, path, kind string, body io.Reader) (answer map[string]any, err error) {
	request, err := http.NewRequestWithContext(c.ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("Content-Type", kind)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s", method, path, raw)
	}
	return answer, json.Unmarshal(raw, &answer)
}

// largestFile is how many contacts a file has at most; a larger one would be refused.
const largestFile = 500_000

// fillList makes a list of so many people, in a process of its own: what an import takes is measured elsewhere.
func fillList(ctx context.Context, home *measure.Home, people int) (list string, err error) {
	p, err := home.Serve("api,smtp,worker")
	if err != nil {
		return "", err
	}
	defer p.Stop()
	c := client{ctx, p.Text("http") + "/v1", home.Key}
	made, err := c.call(http.MethodPost, "/audience/lists", map[string]any{"name": "Everybody"})
	if err != nil {
		return "", err
	}
	list = fmt.Sprint(made["id"])
	for from := 0; from < people; from += largestFile {
		if err := c.importFile(list, from, min(people-from, largestFile)); err != nil {
			return "", err
		}
	}
	return list, nil
}

func (c client) importFile(list string, from, count int) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("list_id", list); err != nil {
		return err
	}
	file, err := form.CreateFormFile("file", "contacts.csv")
	if err != nil {
		return err
	}
	fmt.Fprint(file, "email,first_name\n")
	for n := from; n < from+count; n++ {
		fmt.Fprintf(file, "user%d@example.net,First%d\n", n, n%1000)
	}
	form.Close()
	answer, err := c.send(http.MethodPost, "/contacts/imports", form.FormDataContentType(), &body)
	if err != nil {
		return err
	}
	for {
		im, err := c.call(http.MethodGet, "/contacts/imports/"+fmt.Sprint(answer["id"]), nil)
		switch {
		case err != nil:
			return err
		case im["status"] == "completed":
			return nil
		case im["status"] == "failed":
			return fmt.Errorf("import failed: %v", im["failure"])
		}
		time.Sleep(50 * time.Millisecond)
	}
}
