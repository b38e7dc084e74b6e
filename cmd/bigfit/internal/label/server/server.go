// Package server answers the page by HTTP, on this machine alone unless told otherwise.
//
// # What is checked of a request
//
//	address   the path begins with a random token, which the command prints
//	Host      one of the names of this server: a page of a foreign name that was made to point here has another
//	Origin    where a browser sends one it is this server's own; a POST must have it
//	type      a POST is application/json, which no form of a foreign page can send
//	size      16 KiB of header, 256 KiB of body, 256 points
//	number    64 requests at a time, 128 connections; each has seconds to arrive
//
// Answers have no CORS headers, and a Content-Security-Policy that allows the page its own script, style, pictures
// and sounds, and nothing else. Files are named by the number of a column and of a point, never by a path.
package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/page"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/queue"
)

const (
	mostHeader      = 16 << 10
	mostBody        = 256 << 10
	mostPoints      = 256
	mostRequests    = 64
	mostConnections = 128
	mostTab         = 64

	// A page that sends or reads slower than this is cut off.
	readTimeout  = 10 * time.Second
	writeTimeout = 60 * time.Second
	idleTimeout  = 2 * time.Minute

	nearby = 5 // labeled points that are shown beside a point

	// Processors are those to be kept for requests while a model learns, see par.Reserve.
	Processors = 2
)

// policy is the Content-Security-Policy.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; " +
	"connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// Server is the labeling of a set of points as a page.
type Server struct {
	queue   *queue.Queue
	content *page.Content
	html    []byte
	icon    []byte
	token   string
	hosts   []string // allowed values of Host; nil for any
	slots   chan struct{}

	finished sync.Once
	done     chan struct{}
}

// New returns a server of the questions of a queue.
func New(q *queue.Queue, c *page.Content, h page.Head) (*Server, error) {
	// 128 random bits are no address that another program finds.
	secret := make([]byte, 16)
	rand.Read(secret)
	s := &Server{queue: q, content: c, html: page.Render(h), token: hex.EncodeToString(secret),
		slots: make(chan struct{}, mostRequests), done: make(chan struct{})}
	var err error
	s.icon, err = icon()
	return s, err
}

// icon is a dot, for the tab of the browser.
func icon() ([]byte, error) {
	img := image.NewNRGBA(image.Rect(0, 0, 32, 32))
	for y := range 32 {
		for x := range 32 {
			if (x-16)*(x-16)+(y-16)*(y-16) < 14*14 {
				img.SetNRGBA(x, y, color.NRGBA{R: 31, G: 95, B: 191, A: 255})
			}
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}

// Done is closed when a person has finished.
func (s *Server) Done() <-chan struct{} { return s.done }

// Listen opens the address, such as 127.0.0.1:0. names are further names by which browsers reach the server, such
// as that of this machine.
func (s *Server) Listen(address string, names []string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is no address to listen on; it is such as 127.0.0.1:8080, or 127.0.0.1:0 for any port",
			address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	// The loopback has three names; an address that is open to others, every address of this machine, too.
	hosts := append([]string{"127.0.0.1", "localhost", "::1"}, names...)
	if ip := net.ParseIP(host); ip == nil && host != "" {
		hosts = append(hosts, host)
	} else if ip == nil || ip.IsUnspecified() {
		hosts = append(hosts, ownAddresses()...)
	} else {
		hosts = append(hosts, host)
	}
	for _, name := range hosts {
		s.hosts = append(s.hosts, net.JoinHostPort(name, port))
		if port == "80" {
			s.hosts = append(s.hosts, name)
		}
	}
	return &bounded{Listener: l, slots: make(chan struct{}, mostConnections)}, nil
}

// ownAddresses lists the addresses and the name of this machine.
func ownAddresses() []string {
	var out []string
	if name, err := os.Hostname(); err == nil {
		out = append(out, name)
	}
	addresses, _ := net.InterfaceAddrs() // without them the loopback is left
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok {
			out = append(out, n.IP.String())
		}
	}
	return out
}

// URL is the address of the page at a listener.
func (s *Server) URL(l net.Listener) string {
	host, port, _ := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	return "http://" + net.JoinHostPort(host, port) + "/" + s.token + "/"
}

// Serve answers requests until ctx ends; requests that have begun are ended.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: readTimeout / 2, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: mostHeader,
		// What goes wrong with a connection is no matter of the terminal.
		ErrorLog: log.New(io.Discard, "", 0)}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		soon, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if h.Shutdown(soon) != nil {
			h.Close()
		}
	})
	defer stop()
	err := h.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		<-stopped
		return nil
	}
	return err
}

// bounded is a listener with a bound on its connections.
type bounded struct {
	net.Listener
	slots chan struct{}
}

// Accept waits until there is room for one more connection.
func (b *bounded) Accept() (net.Conn, error) {
	b.slots <- struct{}{}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.slots
		return nil, err
	}
	return &counted{Conn: c, free: sync.OnceFunc(func() { <-b.slots })}, nil
}

// counted is a connection that frees its place when it is closed.
type counted struct {
	net.Conn
	free func()
}

func (c *counted) Close() error {
	defer c.free()
	return c.Conn.Close()
}

// Handler returns all that the server answers.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	static := func(at, kind string, content []byte) {
		mux.HandleFunc("GET "+at, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Write(content)
		})
	}
	static("/{$}", "text/html; charset=utf-8", s.html)
	static("/label.css", "text/css; charset=utf-8", page.Style)
	static("/label.js", "text/javascript; charset=utf-8", page.Script)
	static("/icon.png", "image/png", s.icon)
	mux.HandleFunc("GET /state", s.state)
	mux.HandleFunc("GET /next", s.next)
	mux.HandleFunc("GET /points", s.points)
	mux.HandleFunc("GET /near/{point}", s.near)
	mux.HandleFunc("GET /file/{column}/{point}", s.file)
	mux.HandleFunc("GET /pixels/{point}", s.pixels)
	mux.HandleFunc("POST /label", s.label)
	mux.HandleFunc("POST /undo", s.undo)
	mux.HandleFunc("POST /finish", s.finish)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.guard(w, r, mux) })
}

// guard refuses requests that do not come from the page.
func (s *Server) guard(w http.ResponseWriter, r *http.Request, next http.Handler) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-store")

	if s.hosts != nil && !slices.Contains(s.hosts, r.Host) {
		turnAway(w, http.StatusMisdirectedRequest, "this server has another name; give --host NAME to allow this one")
		return
	}
	token, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		turnAway(w, http.StatusForbidden, "the address lacks its token; take the whole line that bigfit label printed")
		return
	}
	origin := r.Header.Get("Origin")
	if origin != "" && origin != "http://"+r.Host || origin == "" && r.Method == http.MethodPost {
		turnAway(w, http.StatusForbidden, "the request comes from another page")
		return
	}
	if site := r.Header.Get("Sec-Fetch-Site"); r.Method == http.MethodPost && site != "" && site != "same-origin" {
		turnAway(w, http.StatusForbidden, "the request comes from another page")
		return
	}
	if r.Method == http.MethodPost && r.Header.Get("Content-Type") != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "the request is no JSON")
		return
	}
	if r.URL.Path == "/"+token { // relative addresses of the page need the last slash
		w.Header().Set("Location", "/"+token+"/")
		w.WriteHeader(http.StatusPermanentRedirect)
		return
	}

	// No address of the page needs cleaning, and the mux would redirect.
	if path.Clean("/"+rest) != "/"+rest {
		refuse(w, http.StatusNotFound, "there is no such page")
		return
	}

	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		refuse(w, http.StatusServiceUnavailable, "too many requests at a time; try again")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, mostBody)
	inner := r.Clone(r.Context())
	inner.URL.Path = "/" + rest
	inner.URL.RawPath = ""
	next.ServeHTTP(w, inner)
}

// turnAway refuses who does not know the address or comes from elsewhere, and ends the connection: kept connections
// would take the places of the page.
func turnAway(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Connection", "close")
	refuse(w, code, text)
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": text}) // the page may be gone
}

// reply answers with JSON.
func reply(w http.ResponseWriter, v any) {
	content, err := json.Marshal(v)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(content)
}

// A Question is what the page shows.
type Question struct {
	Kind  string      `json:"kind"`
	Why   string      `json:"why"`
	Items []page.Item `json:"items"`
}

// question adds to a question what is shown of its points.
func (s *Server) question(q *queue.Question) Question {
	out := Question{Kind: q.Kind, Why: q.Why, Items: []page.Item{}}
	for _, i := range q.Points {
		item := s.content.Item(i, s.queue.ID(i))
		f := s.queue.FactOf(i)
		item.Mine, item.Answer, item.P = f.Mine, f.Answer, f.P
		out.Items = append(out.Items, item)
	}
	return out
}

// Turn is the answer to what moves the labeling on.
type Turn struct {
	Action int         `json:"action,omitempty"`
	State  queue.State `json:"state"`
	Next   Question    `json:"next"`
}

func (s *Server) state(w http.ResponseWriter, r *http.Request) {
	if err := s.queue.Refresh(); err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	reply(w, s.queue.State())
}

// next answers with the next question. With settle it waits until all labels are learned.
func (s *Server) next(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	tab := v.Get("tab")
	if tab == "" || len(tab) > mostTab {
		refuse(w, http.StatusBadRequest, "the window has no name")
		return
	}
	if err := s.queue.Refresh(); err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	if v.Get("settle") == "1" {
		if err := s.queue.Settle(r.Context()); err != nil {
			refuse(w, http.StatusInternalServerError, err.Error())
			return
		}
	}
	q := s.queue.Ask(tab, v.Get("grid") == "1", v.Get("fresh") == "1")
	reply(w, Turn{State: s.queue.State(), Next: s.question(q)})
}

// points answers with a question for points that were labeled before.
func (s *Server) points(w http.ResponseWriter, r *http.Request) {
	var points []int32
	for part := range strings.SplitSeq(r.URL.Query().Get("i"), ",") {
		i, err := strconv.ParseInt(part, 10, 32)
		if err != nil || len(points) == mostPoints {
			refuse(w, http.StatusBadRequest, "no numbers of points, or too many")
			return
		}
		points = append(points, int32(i))
	}
	q, ok := s.queue.Again(points)
	if !ok {
		refuse(w, http.StatusNotFound, "there is no such point")
		return
	}
	reply(w, Turn{State: s.queue.State(), Next: s.question(q)})
}

// point reads the number of a point in the path.
func (s *Server) point(r *http.Request) (int32, bool) {
	i, err := strconv.ParseInt(r.PathValue("point"), 10, 32)
	if err != nil {
		return 0, false
	}
	_, ok := s.queue.Again([]int32{int32(i)})
	return int32(i), ok
}

func (s *Server) near(w http.ResponseWriter, r *http.Request) {
	i, ok := s.point(r)
	if !ok {
		refuse(w, http.StatusNotFound, "there is no such point")
		return
	}
	out := s.queue.Neighbors(i, nearby)
	if out == nil {
		out = []queue.Neighbor{}
	}
	reply(w, out)
}

// file answers with the picture or the sound that a column names for a point.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	i, ok := s.point(r)
	k, err := strconv.Atoi(r.PathValue("column"))
	if !ok || err != nil {
		refuse(w, http.StatusNotFound, page.ErrNoFile.Error())
		return
	}
	f, info, kind, err := s.content.File(k, i)
	if err != nil {
		refuse(w, http.StatusNotFound, page.ErrNoFile.Error())
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "private, max-age=600")
	http.ServeContent(w, r, "", info.ModTime(), f)
}

func (s *Server) pixels(w http.ResponseWriter, r *http.Request) {
	i, ok := s.point(r)
	if !ok {
		refuse(w, http.StatusNotFound, "there is no such point")
		return
	}
	content, err := s.content.PNG(i)
	if err != nil {
		refuse(w, http.StatusNotFound, "the points are no images")
		return
	}
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Cache-Control", "private, max-age=600")
	w.Write(content)
}

// Given are the labels that the page sends.
type Given struct {
	Tab     string  `json:"tab"`
	Grid    bool    `json:"grid"`
	Points  []int32 `json:"points"`
	Label   string  `json:"label"`
	Kind    string  `json:"kind"`
	Answer  bool    `json:"answer"` // the answer of the model was seen
	Seconds float64 `json:"seconds"`
	Settle  bool    `json:"settle"` // answer when the labels are learned
}

// kinds are the kinds of questions that labels may answer.
var kinds = []string{"one", "grid", "check", "again", "twice", "back", "skip", "unsure"}

// check returns an error unless the labels can be taken.
func (g *Given) check() error {
	switch {
	case g.Tab == "" || len(g.Tab) > mostTab:
		return errors.New("the window has no name")
	case len(g.Points) == 0 || len(g.Points) > mostPoints:
		return fmt.Errorf("%d points are labeled at once; they may be 1 to %d", len(g.Points), mostPoints)
	case !slices.Contains(kinds, g.Kind):
		return errors.New("there is no such kind of question")
	case (g.Label == "") != (g.Kind == "skip" || g.Kind == "unsure"):
		return errors.New("a class needs a name")
	case !(g.Seconds >= 0 && g.Seconds < 1e6):
		return errors.New("the time is no number of seconds")
	}
	return nil
}

// label saves labels, and answers when they are on the disk.
func (s *Server) label(w http.ResponseWriter, r *http.Request) {
	var g Given
	if !decode(w, r, &g) {
		return
	}
	g.Label = strings.TrimSpace(g.Label)
	if err := g.check(); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	shown := g.Kind
	if g.Answer {
		shown += "+answer"
	}
	if names := s.content.Shown(); names != "" {
		shown += ":" + names
	}
	answers := make([]queue.Answer, len(g.Points))
	for k, i := range g.Points {
		answers[k] = queue.Answer{Point: i, Label: g.Label}
	}
	action, err := s.queue.Give(answers, g.Seconds, shown)
	if err != nil {
		refuse(w, codeOf(err), err.Error())
		return
	}
	if g.Settle {
		if err := s.queue.Settle(r.Context()); err != nil {
			refuse(w, http.StatusInternalServerError, err.Error())
			return
		}
	}
	q := s.queue.Ask(g.Tab, g.Grid, false)
	reply(w, Turn{Action: action, State: s.queue.State(), Next: s.question(q)})
}

// codeOf tells faults of what was sent from faults of the disk.
func codeOf(err error) int {
	if queue.Refused(err) {
		return http.StatusBadRequest
	}
	return http.StatusInsufficientStorage
}

func (s *Server) undo(w http.ResponseWriter, r *http.Request) {
	var u struct {
		Tab    string `json:"tab"`
		Action int    `json:"action"`
	}
	if !decode(w, r, &u) {
		return
	}
	points, err := s.queue.Undo(u.Action)
	if err != nil {
		refuse(w, codeOf(err), err.Error())
		return
	}
	q, _ := s.queue.Again(points)
	reply(w, Turn{State: s.queue.State(), Next: s.question(q)})
}

func (s *Server) finish(w http.ResponseWriter, r *http.Request) {
	reply(w, struct{}{})
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	s.finished.Do(func() { close(s.done) })
}

// decode reads a body of JSON, or refuses it.
func decode(w http.ResponseWriter, r *http.Request, v any) bool {
	d := json.NewDecoder(r.Body)
	err := d.Decode(v)
	if err == nil && d.More() {
		err = errors.New("more than one value")
	}
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return true
	case errors.As(err, &large):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request is larger than %d bytes", mostBody))
	default:
		refuse(w, http.StatusBadRequest, "the request is no JSON of labels")
	}
	return false
}
