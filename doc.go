// Package bigfit learns from a few labels and many unlabeled points, by graphs of nearest
// neighbours and by kernels, and answers for new points. Go programs start here: this package does
// with slices and matrices what the command bigfit does with files. Both run the same code and
// share their model files.
//
// # A first fit
//
// Points are rows of numbers, and labels say the class of each, or that there is none:
//
//	m, err := bigfit.Fit(ctx, bigfit.Rows(x), bigfit.Names(y), nil)
//	if err != nil {
//		return err // names the row, the value or the option that is at fault
//	}
//	p, err := m.Predict(ctx, bigfit.Rows(fresh))
//	if err != nil {
//		return err
//	}
//	for i := range p.Len() {
//		fmt.Println(p.Name(i), p.Probability(i))
//	}
//
// x is a [][]float64, or of float32 or bytes, and y a []string in which "" marks a point
// without a label. [FromMat] takes a *mat.Dense of gonum, [FromData] the points that package
// data read from files; [Classes] takes integers, [Values] and [ValueRows] take the numbers of
// a regression, [FromLabels] the labels that package data read.
//
// Labels belong to points by their place: y has an entry for each row of x. Faults of points and
// labels, such as rows of different lengths or a NaN, are reported by the function that takes them.
//
// # Points with ids
//
// Where points have ids, labels join them by id, and a model keeps the ids, in its file too. Choices,
// suspects and answers bear them, and an update takes labels by id, new points with their own ids, or
// forgets points:
//
//	x := bigfit.Rows(rows).WithIDs(ids)                                  // ids[i] names row i
//	m, err := bigfit.Fit(ctx, x, bigfit.NamesByID(labels), nil)          // map[string]string, id to class
//	choices, err := m.Next(ctx, 50, nil)                                 // choices[0].ID
//	m, err = m.Update(ctx, bigfit.Points{}, bigfit.NamesByID(looked))    // joins; "" takes a label away
//	m, err = m.Update(ctx, bigfit.Rows(late).WithIDs(lateIDs), bigfit.Labels{})
//	m, err = m.Forget(ctx, "photo-007")
//
// An id that is there twice, and a label for an id of no point, are errors that name the id and its places.
//
// # Models and parameters
//
// Without options the model is "auto": it makes the graph of nearest neighbours, compares label
// spreading, least squares on the graph and kernel machines by cross-validation on the labels,
// and answers with the mean of the best. [Options] names another:
//
//	m, err := bigfit.Fit(ctx, x, y, &bigfit.Options{
//		Model:      "lgc",
//		Parameters: bigfit.Parameters{"alpha": 0.9, "weights": "self-tuning"},
//		Neighbors:  15,
//		Seed:       7,
//	})
//
// [Models] lists the models, and [Describe] the parameters of one with their ranges and
// defaults; some to begin with:
//
//	auto      the default, for classes and values
//	lgc       label spreading: fast, on the graph
//	harmonic  harmonic functions on the graph, also from one label a class
//	laprls    least squares with a kernel and the graph, for classes and values
//	rls, svm  kernel machines on the labeled points alone
//
// A name that does not exist is an error that says which may have been meant, and so is a
// parameter outside of its range, or one that does not matter with the others.
//
// # How sure an answer is
//
// Labels that are held out in turn calibrate the scores of a model into probabilities, and the
// residuals of a regression into intervals ([Predictions.Interval]). Fit does that where it
// takes about a second. Otherwise [Predictions.Probability] is NaN and [Model.Calibrated] false:
// Options.Folds asks for it at any cost.
//
// # What to label next, and what is labeled wrong
//
// [Model.Next] chooses the points whose labels would help most, [Model.Update] takes the new
// labels, new points or both, and [Model.Suspects] lists labels that disagree with the rest:
//
//	choices, err := m.Next(ctx, 50, nil)
//	for _, c := range choices {
//		y[c.Point] = ask(c.Point) // a person, who may be shown c.Name, today's answer
//	}
//	m, err = m.Update(ctx, bigfit.Points{}, bigfit.Names(y))
//	wrong, err := m.Suspects(ctx, nil)
//
// # Files
//
// [Model.Save] writes a model as .npz, which NumPy opens, and [Load] reads it. The command
// bigfit writes and reads the same files: a service in Go loads what bigfit fit made, and bigfit
// info, predict and update take a model that a Go program saved.
//
// Package data reads points and labels from files. A program that does the work of the commands
// fit, next, suspects and predict is some sixty lines long: the example "Files" shows it, and
// these are its calls:
//
//	x, err := data.ReadPoints("X.npy", data.ReadOptions{})       // mapped: it may exceed the memory
//	y, err := data.ReadLabels("labels.csv", data.LabelOptions{}) // names or integers
//	m, err := bigfit.Fit(ctx, bigfit.FromData(x), bigfit.FromLabels(y), nil)
//	err = m.Save("model.npz")
//	choices, err := m.Next(ctx, 20, nil)
//	suspects, err := m.Suspects(ctx, nil)
//	fresh, err := data.ReadPoints("new.npy", data.ReadOptions{})
//	p, err := m.Predict(ctx, bigfit.FromData(fresh))
//
// # In a service
//
// A [Model] is immutable: goroutines share it without locks, and each gives the context of its
// own request. A context that ends stops a fit or a prediction with its error. Options.Memory
// refuses what would not fit before it begins, Options.Progress and Options.Log tell how far a
// stage is and what was chosen; nothing is ever printed.
//
// Answers depend on the input, the options and the seed alone. The number of threads, which is
// GOMAXPROCS, changes no bit of them.
//
// # Errors
//
// An error that is [Usable] comes with a model that falls short of what was asked, as one whose
// solver did not converge; every other error comes with nil. Whatever points, labels and options
// are given, nothing here panics.
//
// # Below the door
//
// This package links neither pictures nor parquet. [Model.Underlying] and
// [Predictions.Underlying] lead to the packages beneath, which do more: package data reads files
// of points and labels, pipeline makes graphs, eigenpairs and comparisons of models step by
// step, labeling and models/selection choose points and settings, knn searches neighbours.
package bigfit
