import { type Liveness, livenessOf, type RecordedProcess } from "./identity.ts";

/** Judges each recorded process once, until the verdicts are forgotten. */
export class LivenessCache {
  readonly #verdicts = new Map<string, Liveness>();

  of(record: RecordedProcess): Liveness {
    const key = `${record.pid} ${record.procStart} ${record.bootId} ${record.pidSpace}`;
    const known = this.#verdicts.get(key);
    if (known !== undefined) return known;
    const verdict = livenessOf(record);
    this.#verdicts.set(key, verdict);
    return verdict;
  }

  forget(): void {
    this.#verdicts.clear();
  }
}
