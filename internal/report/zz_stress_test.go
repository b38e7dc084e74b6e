package report
import ("testing";"os";"fmt";"math/rand/v2")
func TestZZ(t *testing.T){
 r:=rand.New(rand.NewPCG(1,1)); var x,y,z []float64; var c []int; names:=[]string{}
 for i:=range 20{names=append(names,[]string{"comp.graphics","rec.autos","sci.space","talk.politics.misc"}[i%4]+fmt.Sprint(i))}
 for i:=range 3000{ k:=i%21-1; s:=0.3+r.ExpFloat64(); x=append(x,s*r.NormFloat64()*float64(k%5)); y=append(y,s*r.NormFloat64());z=append(z,r.Float64()); c=append(c,k)}
 f,_:=os.Create("/tmp/rep2.html"); defer f.Close()
 Write(f,&Report{Title:"stress",Sections:[]Section{{"s",[]Block{
  Scatter2D{Title:"newsgroups",X:x,Y:y,Class:c,Classes:names,XLabel:"eigenvector 2",YLabel:"eigenvector 3"},
  Scatter3D{Title:"newsgroups",X:x,Y:y,Z:z,Class:c,Classes:names,Labels:[3]string{"a","b","c"}},
  LineChart{Title:"one point",XLabel:"labels",YLabel:"error",Series:[]Series{{Name:"a",X:[]float64{50},Y:[]float64{7}}}},
  LineChart{Title:"empty",XLabel:"labels",YLabel:"error"},
  LineChart{Title:"both logarithmic",XLabel:"points",YLabel:"seconds",XLog:true,YLog:true,Series:[]Series{{Name:"ours",X:[]float64{1e3,1e4,1e5,1e6,1e7},Y:[]float64{.001,.012,.15,1.9,25}},{Name:"theirs",X:[]float64{1e3,1e4,1e5,1e6},Y:[]float64{.01,.15,1.7,22},Err:[]float64{.005,.1,2,1}}}},
  LineChart{Title:"large numbers",XLabel:"points",YLabel:"bytes",Series:[]Series{{Name:"ours",X:[]float64{1e6,2e6,3.5e6},Y:[]float64{1e9,2.2e9,3.1e9}}}},
 }}}})
}
