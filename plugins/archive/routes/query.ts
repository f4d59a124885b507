/** Parameters that several routes take. */
import * as v from "valibot";

export const count = (max: number) =>
  v.pipe(v.string(), v.regex(/^\d{1,9}$/, "must be a whole number"), v.transform(Number), v.maxValue(max));
export const seq = count(999_999_999);
export const limit = v.pipe(count(1000), v.minValue(1));
