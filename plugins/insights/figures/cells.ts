/** Sums by a number, sorted by it. What is added can be taken away again: a row whose figures are all zero is gone. */
export class Cells {
  readonly #width: number;
  #length = 0;
  #keys = new Float64Array(2);
  #figures: Float64Array;

  /** `width`: figures of a row. Whole numbers, so that nothing is lost in adding and taking away. */
  constructor(width: number) {
    this.#width = width;
    this.#figures = new Float64Array(2 * width);
  }

  get length(): number {
    return this.#length;
  }
  key(i: number): number {
    return this.#keys[i] as number;
  }
  figure(i: number, column: number): number {
    return this.#figures[i * this.#width + column] as number;
  }

  add(key: number, figures: ArrayLike<number>, sign: 1 | -1): void {
    const width = this.#width;
    const i = this.#find(key);
    if (i === this.#length || this.#keys[i] !== key) this.#insert(i, key);
    let empty = true;
    for (let column = 0; column < width; column++) {
      const sum = (this.#figures[i * width + column] as number) + sign * (figures[column] as number);
      this.#figures[i * width + column] = sum;
      if (sum !== 0) empty = false;
    }
    if (empty) this.#remove(i);
  }

  /** Keys, then figures row by row. */
  get all(): { keys: Float64Array; figures: Float64Array } {
    return {
      keys: this.#keys.subarray(0, this.#length),
      figures: this.#figures.subarray(0, this.#length * this.#width),
    };
  }
  /** What `all` was; `numbers` are copied. */
  static of(width: number, keys: Float64Array, figures: Float64Array): Cells {
    const cells = new Cells(width);
    cells.#length = keys.length;
    cells.#keys = keys.slice();
    cells.#figures = figures.slice();
    return cells;
  }

  #find(key: number): number {
    let [low, high] = [0, this.#length];
    // Mostly what is added is the newest.
    if (high > 0 && (this.#keys[high - 1] as number) < key) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#keys[middle] as number) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #insert(i: number, key: number): void {
    const width = this.#width;
    if (this.#length === this.#keys.length) {
      const room = Math.ceil(this.#length * 1.5) + 2;
      const [keys, figures] = [new Float64Array(room), new Float64Array(room * width)];
      keys.set(this.#keys);
      figures.set(this.#figures);
      this.#keys = keys;
      this.#figures = figures;
    }
    this.#keys.copyWithin(i + 1, i, this.#length);
    this.#figures.copyWithin((i + 1) * width, i * width, this.#length * width);
    this.#keys[i] = key;
    this.#figures.fill(0, i * width, (i + 1) * width);
    this.#length++;
  }

  #remove(i: number): void {
    const width = this.#width;
    this.#keys.copyWithin(i, i + 1, this.#length);
    this.#figures.copyWithin(i * width, (i + 1) * width, this.#length * width);
    this.#length--;
  }
}
