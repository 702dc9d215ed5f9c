import { basename } from "node:path";
import type { CastMarker, CastSummary } from "../../casts/read-cast.ts";
import type { Output } from "../../terminal/output.ts";
import { line } from "../../terminal/output.ts";
import { table } from "../../terminal/table.ts";
import { duration } from "../../text/duration.ts";
import { isoTime, localTime } from "../../text/local-time.ts";
import { gridText } from "../../text/terminal-text.ts";
import { formatBytes, pluralized } from "../option-values.ts";

/** Prints the list of recordings. */
export function listCasts(out: Output, casts: readonly CastSummary[], problems: readonly string[]): void {
  out.answer({ recordings: casts.map(described), problems }, () => {
    if (casts.length === 0 && problems.length > 0) return "No recording can be played.";
    if (casts.length === 0) return 'Nothing is recorded. To record a team: teams run --rec "…"';
    const rows = casts.map(({ path, header, bytes, length, markers }) => [
      gridText(header.title ?? basename(path)),
      header.timestamp === undefined ? "" : localTime(header.timestamp * 1000),
      duration(Math.round(length)),
      `${header.width}x${header.height}`,
      formatBytes(bytes),
      markers.length,
      gridText(path),
    ]);
    const heads = ["AGENT", "STARTED", "LENGTH", "SIZE", "BYTES", "MARKERS", "FILE"];
    return table(heads, rows, { right: [4, 5] });
  });
  noteProblems(out, casts, problems);
}

function described({ path, header, bytes, length, markers, bad, badLines }: CastSummary) {
  return {
    title: header.title ?? null,
    path,
    startedAt: header.timestamp === undefined ? null : isoTime(header.timestamp * 1000),
    columns: header.width,
    rows: header.height,
    lengthSeconds: length,
    bytes,
    markers,
    malformedLines: bad,
    firstMalformedLines: badLines,
  };
}

/** Notes what a replay leaves out: malformed lines, and recordings that cannot be played. */
export function noteProblems(out: Output, casts: readonly CastSummary[], problems: readonly string[]): void {
  for (const { path, bad, badLines } of casts.filter((cast) => cast.bad > 0)) {
    const lines = badLines.join(", ");
    out.note(
      line`${path}: ${pluralized(bad, "malformed line")} left out (${bad > badLines.length ? `${lines}, …` : lines}).`,
    );
  }
  for (const problem of problems) out.note(line`${problem}`);
}

/** Prints the markers of a timeline, with the numbers that `--to-marker` accepts. */
export function listMarkers(out: Output, markers: readonly CastMarker[]): void {
  out.answer({ markers: markers.map((marker, index) => ({ number: index + 1, ...marker })) }, () => {
    if (markers.length === 0) return "There are no markers.";
    const rows = markers.map(({ time, label }, index) => [index + 1, clockTime(time), gridText(label)]);
    return table(["#", "TIME", "MARKER"], rows, { right: [0, 1], columns: out.columns });
  });
}

/** `0:12`, `1:02:03`. */
export function clockTime(seconds: number): string {
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const two = (value: number): string => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
