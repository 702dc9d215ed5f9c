/**
 * The options of a program, or of one of its subcommands, that run no other program and write no file which the program would not
 * write anyway. Every other option asks, unless an allow rule names it. Data only: `commands/risky-options.ts` reads it.
 */
export interface Table {
  /** Letters and long names, in the format of `options()` in `commands/options.ts`. */
  readonly options: string;
  /** The manual that the table follows. */
  readonly source?: string;
  /** Options that are harmless only with such a value. */
  readonly only?: Readonly<Record<string, Pick<RegExp, "test">>>;
  /** `--no-x` is harmless if `--x` is. */
  readonly negates?: boolean;
  /** The program's own options end after this number of operands; the words after them belong to another program. */
  readonly operands?: number;
  /** The same, by the first operand. */
  readonly operandsOf?: Readonly<Record<string, number>>;
  /** Long options have one dash: `-run`. */
  readonly oneDash?: boolean;
  /** Words that are harmless although the options do not list them. */
  readonly words?: RegExp;
  /** The first operand is harmless only if it matches `first` and does not match `notFirst`: a subcommand. */
  readonly first?: Pick<RegExp, "test">;
  readonly notFirst?: RegExp;
  /** The second operand is harmless only if it matches. */
  readonly second?: Pick<RegExp, "test">;
  /** Each operand is harmless only if it matches `others` and does not match `never`. */
  readonly others?: Pick<RegExp, "test">;
  readonly never?: RegExp;
  /** Each operand is harmless only if it satisfies this. */
  readonly isHarmless?: (operand: string, at: number) => boolean;
  /** Tables of subcommands: the first operand. A subcommand that is missing asks, and so do all its options. */
  readonly subcommands?: Readonly<Record<string, Table | string>>;
  /** After `--`, only these words are harmless, by subcommand. */
  readonly rest?: Readonly<Record<string, RegExp>>;
  /** A rule for the program with any words allows all its code, so its options only count for a narrower rule. */
  readonly runsCode?: boolean;
}
