package fields

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// recordsOf returns the records of a file with the given text, and their lines.
func recordsOf(t testing.TB, text string) (records [][]string, lines []int, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := NewRecords(c)
	if err != nil {
		t.Fatal(err)
	}
	for {
		if err := r.Next(); err == io.EOF {
			return records, lines, nil
		} else if err != nil {
			return records, lines, err
		}
		record := make([]string, r.Len())
		for i := range record {
			record[i] = string(r.Field(i))
		}
		records = append(records, record)
		lines = append(lines, r.Line)
	}
}

func TestRecords(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		want  [][]string
		lines []int
	}{
		"commas":                 {"a,b\n1, 2 \n", [][]string{{"a", "b"}, {"1", "2"}}, []int{1, 2}},
		"tabs before commas":     {"1,5\t2\n", [][]string{{"1,5", "2"}}, []int{1}},
		"semicolons":             {"1,5;2\n", [][]string{{"1,5", "2"}}, []int{1}},
		"blanks":                 {"  1  2\t\n\"3\" 4\n", [][]string{{"1", "2"}, {"3", "4"}}, []int{1, 2}},
		"one column":             {"name\nNew York\n", [][]string{{"name"}, {"New York"}}, []int{1, 2}},
		"separator in quotes":    {"\"1,2\";3\n", [][]string{{"1,2", "3"}}, []int{1}},
		"quotes twice":           {"1,\"a \"\"b\"\"\"\n", [][]string{{"1", `a "b"`}}, []int{1}},
		"blanks around quotes":   {"1, \"a\" ,2\n", [][]string{{"1", "a", "2"}}, []int{1}},
		"lines in quotes":        {"1,\"a\r\n#b\n\",2\n3,4,5\n", [][]string{{"1", "a\n#b", "2"}, {"3", "4", "5"}}, []int{1, 4}},
		"comments, empty, mark":  {"\xef\xbb\xbf# x\n\n  # y\n1,2\n   \n3,4", [][]string{{"1", "2"}, {"3", "4"}}, []int{4, 6}},
		"empty fields":           {",\n,\n", [][]string{{"", ""}, {"", ""}}, []int{1, 2}},
		"tabs alone":             {"1\t2\n\t\n", [][]string{{"1", "2"}, {"", ""}}, []int{1, 2}},
		"tab first":              {"\tx\ty\n0\t1\t2\n", [][]string{{"", "x", "y"}, {"0", "1", "2"}}, []int{1, 2}},
		"tab last":               {"x\ty\t\n1\t2\t\n3\t\t\n4\t5\n", [][]string{{"x", "y"}, {"1", "2"}, {"3", ""}, {"4", "5"}}, []int{1, 2, 3, 4}},
		"no end of the last":     {"1;2\r\n3;", [][]string{{"1", "2"}, {"3", ""}}, []int{1, 2}},
		"blanks of other script": {"1,\u00a02\u3000\n", [][]string{{"1", "2"}}, []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			got, lines, err := recordsOf(t, c.text)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(got, c.want, slices.Equal) || !slices.Equal(lines, c.lines) {
				t.Errorf("%q, lines %d; want %q, lines %d", got, lines, c.want, c.lines)
			}
		})
	}
}

func TestQuoteFaults(t *testing.T) {
	for text, want := range map[string]string{
		"1,a\"b\n":         `line 1, byte 4: bare "`,
		"1,2\n3,\"a\"b\n":  `line 2, byte 6: extraneous or missing "`,
		"1,\"a\nb\nc":      "line 1: a quote is not closed",
		"1,\"a\nb\" c,2\n": `line 2, byte 4: extraneous or missing "`,
	} {
		t.Run(text, func(t *testing.T) {
			if _, _, err := recordsOf(t, text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "t.csv") {
				t.Errorf("%v; want %q", err, want)
			}
		})
	}
}

// Records that encoding/csv writes are read again.
func TestRecordsOfWriter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	letters := []rune("ab1 ,;\"\n\té#")
	for range 300 {
		rows := make([][]string, 4)
		for i := range rows {
			for range 3 {
				var field strings.Builder
				for range rng.IntN(5) {
					field.WriteRune(letters[rng.IntN(len(letters))])
				}
				rows[i] = append(rows[i], strings.TrimSpace(field.String()))
			}
		}
		rows[0] = []string{"x", "y", "z"}
		for i := range rows[1:] {
			rows[i+1][0] = fmt.Sprint(i) // no comment, and no separator but the comma
		}

		var text strings.Builder
		w := csv.NewWriter(&text)
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		got, _, err := recordsOf(t, text.String())
		if err != nil || !slices.EqualFunc(got, rows, slices.Equal) {
			t.Fatalf("%q is read as %q, %v; want %q", text.String(), got, err, rows)
		}
	}
}

// Numbers have the bits that strconv gives them.
func TestNumber(t *testing.T) {
	check := func(text string) {
		want, err := strconv.ParseFloat(text, 64)
		// Go's own forms of numbers are names in files.
		isNumber := (err == nil || math.IsInf(want, 0)) && !strings.ContainsAny(text, "_xX")
		got, ok := Number([]byte(text))
		if ok != isNumber || ok && math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%q is %v, %v; want %v, %v", text, got, ok, want, isNumber)
		}
	}
	for _, text := range []string{
		"", "-", ".", "-.", "5.", ".5", "-.5", "0", "-0", "-0.0", "00", "007", "1..2", "1.2.3", "+1", "1e5", "1e", "nan", "-inf", "1e999", "0x10",
		"999999999999999", "9999999999999999", "-99999999999999.9", "0.000000000000001", "0.00000000000001", "123456789012345.6", "1_000", "--1", "1-", "٣",
	} {
		check(text)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200000 {
		check(strconv.FormatFloat(rng.NormFloat64()*math.Pow10(rng.IntN(9)-4), 'f', rng.IntN(14), 64))
	}
}
