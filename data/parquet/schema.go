package parquet

import (
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/bigfit/bigfit/internal/file/table"
)

// node is a node of the schema: a leaf has values, another node has nodes below it.
type node struct {
	*format.SchemaElement
	below  []*node
	column string // name of the column that the node belongs to
	index  int    // of a leaf, among the leaves
	// The highest levels, of Dremel's encoding of nested values (Melnik et al., VLDB 2010): a
	// definition level counts the optional and repeated nodes down to the leaf that are there, a
	// repetition level those repeated nodes of which a value is not the first.
	maxDef, maxRep int
}

func (n *node) leaf() bool { return n.Type.Valid }

// kind is the physical type of the values of a leaf.
func (n *node) kind() format.Type { return n.Type.V }

// readSchema makes the tree of the elements, which the footer has in the order in which a walk
// through the tree meets them, each with the number of its children.
func (p *reader) readSchema() error {
	rest := p.meta.Schema
	if len(rest) == 0 || rest[0].Type.Valid {
		return p.fault("the footer has no schema; the file is damaged, write it again")
	}

	// The root is no part of a column and has no levels.
	var grow func(n *node, depth int) error
	grow = func(n *node, depth int) error {
		for range max(0, n.NumChildren.V) {
			if len(rest) == 0 || depth == mostDepth {
				return p.fault("the schema claims more columns than it has; the file is damaged, write it again")
			}
			child := &node{SchemaElement: &rest[0], column: n.column, maxDef: n.maxDef, maxRep: n.maxRep}
			rest = rest[1:]
			if depth == 0 {
				child.column = child.Name
			}
			switch child.RepetitionType.V {
			case format.Optional:
				child.maxDef++
			case format.Repeated:
				child.maxDef++
				child.maxRep++
			}
			if n.below = append(n.below, child); child.leaf() {
				child.index = len(p.leaves)
				p.leaves = append(p.leaves, child)
			} else if err := grow(child, depth+1); err != nil {
				return err
			}
		}
		return nil
	}

	root := &node{SchemaElement: &rest[0]}
	rest = rest[1:]
	err := grow(root, 0)
	p.tops = root.below
	return err
}

// describe sets the columns.
func (p *reader) describe() {
	// A column is a value, a list of numbers, or something that is not read and why.
	for _, top := range p.tops {
		c := table.Column{Name: top.Name, Kind: table.Other, Bits: 64}
		leaf := top.onlyLeaf()
		switch {
		case leaf == nil:
			c.Why = "a group of columns or a nested list"
		case leaf.maxRep == 0 && top.leaf():
			c.Kind, c.Bits, c.Why = leaf.tableKind()
		case leaf.maxRep == 1:
			kind, bits, why := leaf.tableKind()
			if kind == table.Float || kind == table.Int {
				c.Kind = table.FloatList
				c.Bits = bits
				if kind == table.Int {
					c.Bits = 64
				}
			} else if c.Why = "a list of " + why; why == "" {
				c.Why = "a list of values of kind " + kind.String()
			}
		default:
			c.Why = "a group of columns or a nested list"
		}

		p.cols = append(p.cols, c)
		p.single = append(p.single, leaf)
	}

	// The length of lists is known from the first row only.
	for i := range p.cols {
		if p.cols[i].Kind == table.FloatList {
			p.cols[i].Width = p.width(i)
		}
	}
}

// onlyLeaf returns the leaf of a column that has no more than one.
func (n *node) onlyLeaf() *node {
	for !n.leaf() {
		if len(n.below) != 1 {
			return nil
		}
		n = n.below[0]
	}
	return n
}

// listLevel is the definition level at which the list of a row has an element, missing or not.
func (n *node) listLevel() int {
	for n.maxRep == 0 {
		n = n.below[0]
	}
	return n.maxDef
}

// tableKind returns the kind of the values of a leaf, or why they cannot be read.
func (n *node) tableKind() (kind table.Kind, bits int, why string) {
	logical := n.LogicalType.Value
	converted := n.ConvertedType
	plain := logical == nil && !converted.Valid

	// A physical type stands for numbers unless a logical type makes something else of it.
	switch n.kind() {
	case format.Boolean:
		return table.Bool, 64, ""
	case format.Int32, format.Int64:
		_, isInt := logical.(*format.IntType)
		if plain || isInt || logical == nil && converted.V >= deprecated.Uint8 &&
			converted.V <= deprecated.Int64 {
			return table.Int, 64, ""
		}
		return table.Other, 64, "dates, times or decimals"
	case format.Float:
		return table.Float, 32, ""
	case format.Double:
		return table.Float, 64, ""
	case format.ByteArray:
		switch logical.(type) {
		case nil, *format.StringType, *format.EnumType, *format.JsonType:
			if plain || logical != nil || converted.V == deprecated.UTF8 || converted.V == deprecated.Enum ||
				converted.V == deprecated.Json {
				return table.Text, 64, ""
			}
		}
		return table.Other, 64, "bytes that are no text"
	case format.FixedLenByteArray:
		if _, half := logical.(*format.Float16Type); half && n.TypeLength.V == 2 {
			return table.Float, 32, ""
		}
		if _, uuid := logical.(*format.UUIDType); uuid && n.TypeLength.V == 16 {
			return table.Text, 64, ""
		}
		return table.Other, 64, "bytes that are no text"
	}

	return table.Other, 64, "times of 96 bits"
}

// unsigned reports whether the integers of a leaf have no sign.
func (n *node) unsigned() bool {
	if t, ok := n.LogicalType.Value.(*format.IntType); ok {
		return !t.IsSigned
	}
	return n.ConvertedType.Valid && n.ConvertedType.V >= deprecated.Uint8 && n.ConvertedType.V <= deprecated.Uint64
}
