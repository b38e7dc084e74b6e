package pool

import "github.com/bigfit/bigfit/models"

// Sharing returns how many parts of m share its points and their index.
func Sharing(m models.Model) int {
	count := 0
	for _, p := range m.(*Model).parts {
		if p.shares {
			count++
		}
	}
	return count
}
