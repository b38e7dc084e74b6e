package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/bigfit/bigfit/data"
)

// Answer answers the questions of a server by known labels, as a page does for a person, until count are answered or
// none is left. Points without a known label are skipped. It waits for the model after each label, so that the same
// labels are asked for in every run. told hears of each answer. It returns the number of answers.
func Answer(ctx context.Context, address string, truth *data.Labels, count int, told func(int)) (int, error) {
	base, err := url.Parse(address)
	if err != nil {
		return 0, err
	}
	c := &client{ctx: ctx, base: base}
	var turn Turn
	if err := c.call("next?tab=headless&settle=1", nil, &turn); err != nil {
		return 0, err
	}
	for k := range count {
		if len(turn.Next.Items) == 0 {
			return k, nil
		}
		i := turn.Next.Items[0].Point
		g := Given{Tab: "headless", Points: []int32{i}, Kind: turn.Next.Kind, Settle: true}
		if class := truth.Index[i]; class != data.Unlabeled {
			g.Label = truth.Name(class)
		} else {
			g.Kind = "skip"
		}
		turn = Turn{}
		if err := c.call("label", g, &turn); err != nil {
			return k, err
		}
		told(k + 1)
	}
	return count, nil
}

// client is what a page is to the server.
type client struct {
	ctx  context.Context
	base *url.URL
}

// call sends a request, with a body if it is not nil, and reads its answer.
func (c *client) call(path string, body, answer any) error {
	at, err := c.base.Parse(path)
	if err != nil {
		return err
	}
	method := http.MethodGet
	var content bytes.Buffer
	if body != nil {
		method = http.MethodPost
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(c.ctx, method, at.String(), &content)
	if err != nil {
		return err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", "http://"+c.base.Host)
	}
	// A proxy of the environment is not for the loopback.
	h := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Minute}
	response, err := h.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	d := json.NewDecoder(response.Body)
	if response.StatusCode != http.StatusOK {
		var fault struct{ Error string }
		if d.Decode(&fault) == nil && fault.Error != "" {
			return errors.New(fault.Error)
		}
		return fmt.Errorf("the server answers with %s", response.Status)
	}
	return d.Decode(answer)
}
