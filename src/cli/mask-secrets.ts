import { REDACTED } from "../os/redact.ts";

/** Forms of secrets in a command or an address, each with its replacement. */
const FORMS: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic|Token)\s+[^\s"']+/gi, `$1 ${REDACTED}`],
  [/\b([\w-]*(?:KEY|TOKEN|SECRET|PASSWORD))=("[^"]*"|'[^']*'|[^\s"'&]+)/gi, `$1=${REDACTED}`],
  [/(--[\w-]*(?:key|token|secret|password|user))\s+("[^"]*"|'[^']*'|[^\s"']+)/gi, `$1 ${REDACTED}`],
  // A header of a request, as curl takes it, and a name with a password.
  [
    /(["'])([\w-]*(?:auth|authorization|cookie|key|token|secret|password))\s*:(?!\s*(?:Bearer|Basic|Token)\s)[^"']+\1/gi,
    `$1$2: ${REDACTED}$1`,
  ],
  [/(\s-u\s*)("[^"]*:[^"]*"|'[^']*:[^']*'|[^\s"':]+:[^\s"']+)/g, `$1${REDACTED}`],
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, `$1${REDACTED}@`],
];

/** Masks text that looks like a secret in all texts of a value: commands of hooks and notifications often contain one. */
export function maskSecrets<T>(value: T): T {
  if (typeof value === "string")
    return FORMS.reduce((text, [form, mask]) => text.replace(form, mask), value as string) as T;
  if (Array.isArray(value)) return value.map(maskSecrets) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskSecrets(item)])) as T;
}
