// The scale of current scaling and of block scaling, from the amax of what is about to be cast.
#pragma once

namespace engine {

/// formatMax / max(amax, epsilon), one FP32 division; 1 where amax is 0, infinite or NaN; at most FLT_MAX. With
/// `powerOfTwo` the mantissa bits are cleared, which rounds down.
float currentScale(float amax, float formatMax, float epsilon, bool powerOfTwo);

}  // namespace engine
