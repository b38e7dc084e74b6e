package bigfit
