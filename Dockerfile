FROM python:3.11-slim

ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 SAYSO_DATA_DIR=/data SAYSO_HOST=0.0.0.0 SAYSO_PORT=8000

WORKDIR /app
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt
COPY . .

# The server needs to write nothing but its data.
RUN useradd --system --uid 10001 sayso && mkdir /data && chown sayso /data
USER sayso
VOLUME /data
EXPOSE 8000

HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]

CMD ["python", "manage.py", "serve", "--first-run"]
