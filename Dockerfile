# Paragloss from its wheel: `python -m build --wheel` (or pip wheel --no-deps .) puts one into dist/ first.
#   docker build -t paragloss .
#   docker run -p 8000:8000 -v $PWD/library:/library -v $PWD/keys:/run/keys:ro paragloss
# In a container others can reach the server, so it needs a file of keys (docs/do/server.md).
FROM python:3.12-slim

COPY dist/*.whl /tmp/
RUN pip install --no-cache-dir "$(ls /tmp/paragloss-*.whl)[serve,cluster]" \
    && rm /tmp/*.whl \
    && useradd --create-home --uid 10001 paragloss \
    && install --directory --owner=paragloss /library

USER paragloss
WORKDIR /home/paragloss
VOLUME ["/library"]
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/api/health')"]
ENTRYPOINT ["paragloss"]
CMD ["serve", "/library", "--host", "0.0.0.0", "--keys", "/run/keys"]
