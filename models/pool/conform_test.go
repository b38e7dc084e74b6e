package pool_test

import (
	"testing"

	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/modeltest"
)

func TestConform(t *testing.T) { modeltest.Conform(t, all.Auto, modeltest.Suite{}) }

func TestCosts(t *testing.T) { modeltest.Costs(t, all.Auto, nil, 500, 2000, 10000) }
