# The suite in a container: docker run --rm -v "$PWD:/work" IMAGE run --base-url=… --profile=profile.yaml
FROM python:3.13.9-slim-trixie AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY conformance conformance
COPY spec spec
COPY fixtures fixtures
RUN python -m venv /opt/conformance && /opt/conformance/bin/pip install --no-cache-dir '.[parallel]'

FROM python:3.13.9-slim-trixie
COPY --from=build /opt/conformance /opt/conformance
# An ordinary user; files that it writes belong to whoever runs it with --user.
RUN useradd --create-home --uid 10001 conformance
USER 10001
WORKDIR /work
ENV PATH=/opt/conformance/bin:$PATH
ENTRYPOINT ["payments-conformance"]
CMD ["--help"]
