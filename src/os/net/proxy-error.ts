/** The proxy of the environment cannot be used. In a separate file: a process without a proxy loads only this part. */
export class ProxyError extends Error {
  override readonly name = "ProxyError";
  /** True if the same request cannot succeed before the user changes something. */
  readonly isLasting: boolean;

  constructor(message: string, { isLasting, ...options }: ErrorOptions & { readonly isLasting: boolean }) {
    super(message, options);
    this.isLasting = isLasting;
  }
}

/** Returns true for a {@link ProxyError} that a later attempt cannot resolve. */
export function isLastingProxyError(error: unknown): error is ProxyError {
  return error instanceof ProxyError && error.isLasting;
}

/** Returns true if an environment names a proxy. `NO_PROXY` alone does not count. */
export function namesProxy(env: Readonly<Record<string, string | undefined>>): boolean {
  return Object.entries(env).some(([name, value]) => /^(https?|all)_proxy$/i.test(name) && value?.trim());
}
